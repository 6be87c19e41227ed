#!/bin/sh
# Fetches the jars of a Neo4j community server from Maven Central into the folder named first, once.
# The tests start it (tests/neo4j_server.py) unless NEO4J_URI names a server of your own.
set -eu
target=${1:-.cache/neo4j/lib}
here=$(dirname "$0")

if [ -n "${NEO4J_URI:-}" ]; then
    echo "The tests use the Neo4j server that NEO4J_URI names."
    exit 0
fi

if ! { command -v mvn && command -v javac; } >/dev/null 2>&1; then
    # Only where nobody is asked for a password: in a container or a CI job.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing Maven and Java 17 for the Neo4j server of the tests"
        apt-get update -qq || true
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y maven openjdk-17-jdk-headless >/dev/null || true
    fi
fi
if ! { command -v mvn && command -v javac; } >/dev/null 2>&1; then
    echo "The tests of the graph store run a real Neo4j server, which needs Maven and a JDK 17 or 21." >&2
    echo "Install them: sudo apt-get install maven openjdk-17-jdk-headless" >&2
    echo "Or name a server of your own: NEO4J_URI=bolt://localhost:7687 NEO4J_PASSWORD=…" >&2
    exit 1
fi

echo "Fetching the Neo4j server for the tests (once; about 130 MB)"
rm -rf "$target"
mvn -B -q -f "$here/pom.xml" ${NEO4J_VERSION:+-Dneo4j.version=$NEO4J_VERSION} \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$(pwd)/$target"
