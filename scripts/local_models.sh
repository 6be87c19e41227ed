#!/bin/sh
# Installs the [local] extra into the folder $1 for the tests of its models: torch without its GPU libraries.
# The torch of the package index is built for CUDA, and brings 3 GB of libraries that a processor never calls; it does
# not load without them, though. So they are left out, and one small library that has their names stands in.
set -eu

folder="$1"
# All that .venv lacks, one by one, since pip knows no other way to leave a dependency out.
packages="sentence-transformers transformers safetensors scikit-learn scipy joblib threadpoolctl narwhals
torch sympy mpmath networkx"
# Of the GPU's packages only the CUDA runtime is taken (2 MB): torch asks it whether there is a GPU.
if [ "$(uname -s)" = Linux ]; then packages="$packages nvidia-cuda-runtime"; fi
wanted=$(for name in $packages; do
    grep "^$name==" constraints.txt || { echo "constraints.txt does not pin $name." >&2; exit 1; }
done)
if [ "$wanted" = "$(cat "$folder/installed.txt" 2>/dev/null)" ]; then exit 0; fi

echo "Installing sentence-transformers and torch, without its GPU libraries, into $folder (once; about 620 MB to fetch)"
rm -rf "$folder"
mkdir -p "$folder"
# shellcheck disable=SC2086 # one argument each
.venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-deps --target "$folder" $wanted

missing() { ldd "$folder"/torch/lib/*.so | awk '/not found/ { print $1 }' | sort -u; }

if [ "$(uname -s)" = Linux ] && [ -n "$(missing)" ]; then
    for tool in cc nm; do
        command -v $tool >/dev/null || { echo "No $tool. Install it: sudo apt install gcc" >&2; exit 1; }
    done
    # What torch imports from the libraries that are missing, each name with its version; calling one ends the process.
    nm -D --undefined-only "$folder"/torch/lib/*.so |
        awk -v code="$folder/absent.c" -v versions="$folder/absent.map" '
            $1 == "U" && $2 ~ /^(cu|nv|nccl)/ && $2 !~ /@libcudart/ && !seen[$2]++ {
                split($2, name, "@")
                print "void " name[1] "(void) { __builtin_trap(); }" > code
                if (name[2] != "") names[name[2]] = names[name[2]] name[1] ";"
            }
            END { for (version in names) print version " {" names[version] "};" > versions }'
    cc -shared -fPIC -w "$folder/absent.c" -Wl,--version-script="$folder/absent.map" -o "$folder/torch/lib/libabsent.so"
    for library in $(missing); do
        ln -s libabsent.so "$folder/torch/lib/$library"
    done
fi
PYTHONPATH="$folder" PYTHONDONTWRITEBYTECODE="" .venv/bin/python -c "import sentence_transformers"
echo "$wanted" >"$folder/installed.txt"
