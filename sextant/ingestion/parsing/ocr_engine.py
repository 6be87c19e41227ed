"""Lines of text in a picture of a page, by RapidOCR's models on ONNX Runtime; they come with the extra `[ocr]`.

Runs in a parser host alone: it takes some 700 MB and seconds of CPU a page.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from importlib import import_module, util
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from sextant.domain.errors import FileBroken, ModelUnavailable
from sextant.domain.system import install_extra
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.recognised import OCR_EDGE, OcrLine, OcrPage, Point
from sextant.models.chat.pictures import PictureLimits, decode_page

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    Pixels = NDArray[np.uint8]

EXTRA = "ocr"
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}
_SHARPEST = 300 / 72  # pixels a point: a small page is drawn no larger than at 300 dpi
_TALL = 1.5  # times as high as wide: RapidOCR turns such a crop by a quarter
_CHARACTER = (
    2.0  # times the usual height of lines: a tall box up to here holds one upright character
)
_CERTAIN = 0.9  # that a line stands upside down
_SMALLEST = 64  # pixels of an edge
_NARROW = 4  # times as high as wide at most
_LEAST = 0.5  # confidence of a line at least; below are stains and drawings


def is_installed() -> bool:
    """Return whether the extra is there; nothing is loaded."""
    return util.find_spec("rapidocr") is not None


def recognise(content: bytes, page: int, limits: Limits) -> OcrPage:
    """Read one page of a PDF, or one frame of an image file; pages count from 1.

    Raises:
        ModelUnavailable: the extra is missing, or one of its model files cannot be used.
        FileUnsafe: the image has too many pixels.
        FileBroken: it cannot be decoded, or the page cannot be drawn.
    """
    engine = load()
    if b"%PDF-" not in content[:1024]:
        bounds = PictureLimits(limits.file_bytes, limits.image_pixels, OCR_EDGE)
        return engine.read(decode_page(content, page, bounds))
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
        document.init_forms()
        drawn = document[page - 1]
        scale = min(OCR_EDGE / max(drawn.get_size()), _SHARPEST)
        image = drawn.render(scale=scale, no_smoothtext=False).to_pil()
    except (pdfium.PdfiumError, ValueError) as error:
        raise FileBroken(f"Page {page} cannot be drawn ({error}).") from error
    return engine.read(image, scale)


@cache
def load() -> OcrEngine:
    """Load the models, once.

    Raises:
        ModelUnavailable: the extra is missing, or one of its model files cannot be used.
    """
    try:
        return OcrEngine()
    except Exception as error:  # the edge: what a damaged model makes the runtime raise
        if isinstance(error, ModuleNotFoundError):
            raise ModelUnavailable(
                f"OCR is not installed: it comes with the extra `{EXTRA}`.",
                next_step=install_extra(EXTRA),
            ) from error
        raise ModelUnavailable(
            f"The models of OCR (extra `{EXTRA}`) cannot be loaded: {str(error).partition(chr(10))[0]}",
            next_step=f"Run `{sys.executable} -m pip install --force-reinstall --no-deps -c constraints.txt rapidocr`.",
        ) from error


class OcrEngine:
    """The three models: where lines are, whether they stand upside down, what they say."""

    def __init__(self) -> None:
        rapidocr = import_module("rapidocr")
        # One page takes one core; pages are read side by side.
        import_module("cv2").setNumThreads(1)
        threads = {
            f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")
        }
        folder = Path(rapidocr.__path__[0]) / "models"
        models = {f"{task}.model_path": str(folder / name) for task, name in _MODELS.items()}
        missing = [path for path in models.values() if not Path(path).is_file()]
        if missing:  # else it would be fetched from the network
            raise FileNotFoundError(f"The model file {Path(missing[0]).name} is missing.")
        # Lines are read one by one: together they would all be as wide as the widest, and take as much more memory.
        params = {"Global.log_level": "critical", "Rec.rec_batch_num": 1, **threads, **models}
        self._ocr: Any = rapidocr.RapidOCR(params=params)
        self._error = import_module("rapidocr.main").RapidOCRError
        self._map = import_module("rapidocr.utils.process_img").map_boxes_to_original
        self._detect, self._classify, self._recognise = (
            self._ocr._load_det_model(),
            self._ocr._load_cls_model(),
            self._ocr._load_rec_model(),
        )

    def read(self, image: Image.Image, scale: float = 1.0) -> OcrPage:
        """Return the lines of a picture; `scale`: its pixels for each unit of what it is a picture of."""
        import numpy as np

        # White at the right and below of what is tiny or narrow: RapidOCR enlarges it until the shorter edge has 736
        # pixels, and of a single column of letters would make a picture of many times the memory of a page.
        right = max(_SMALLEST, -(-image.height // _NARROW)) - image.width
        below = _SMALLEST - image.height
        pixels: Pixels = np.pad(
            np.asarray(image.convert("RGB"))[:, :, ::-1],
            ((0, max(below, 0)), (0, max(right, 0)), (0, 0)),
            constant_values=255,
        )
        size = (image.width / scale, image.height / scale)
        try:
            record: dict[str, Any] = {}
            crops, found = self._ocr.detect_and_crop(pixels, record)
        except self._error:  # there is no text
            return OcrPage(*size)
        quads = self._map(found.boxes, record, image.height, image.width)
        boxes = [tuple((float(x), float(y)) for x, y in quad) for quad in quads]
        crops, turn = self._turn_upright(crops, boxes)
        recognised_text = self._ocr.recognize_txt(crops)
        lines = [
            OcrLine(
                text.strip(),
                round(float(score), 3),
                tuple((round(x / scale, 1), round(y / scale, 1)) for x, y in box),
            )
            for box, text, score in zip(
                boxes, recognised_text.txts, recognised_text.scores, strict=True
            )
            if text.strip()
        ]
        sure = tuple(line for line in lines if line.confidence >= _LEAST)
        return OcrPage(*size, sure, turn, unsure=len(lines) - len(sure))

    def _turn_upright(
        self, crops: list[Pixels], boxes: list[tuple[Point, ...]]
    ) -> tuple[list[Pixels], int]:
        """Return the crops as one reads them, and by how many degrees the page must be turned clockwise for that.

        What the classifier says of all lines of one direction together is surer than of each.
        """
        import numpy as np

        sizes = [_size(box) for box in boxes]
        tall = [height >= _TALL * width for width, height in sizes]
        lengths = [max(size) for size in sizes]
        is_turned = sum(length for length, one in zip(lengths, tall, strict=True) if one) > (
            sum(lengths) / 2
        )
        if not is_turned:
            usual = median(height for (_, height), one in zip(sizes, tall, strict=True) if not one)
            for at, (_, height) in enumerate(sizes):
                if tall[at] and height < _CHARACTER * usual:
                    crops[at], tall[at] = np.rot90(crops[at], -1), False
        labels = self._classify(crops).cls_res
        over = dict[bool, bool]()
        for direction in set(tall):
            votes = [
                length if "180" in label and score > _CERTAIN else -length
                for (label, score), length, one in zip(labels, lengths, tall, strict=True)
                if one is direction
            ]
            over[direction] = sum(votes) > 0
        turned = [
            np.rot90(crop, 2) if over[one] else crop for crop, one in zip(crops, tall, strict=True)
        ]
        if is_turned:
            return turned, 90 if over[True] else 270
        return turned, 180 if over[False] else 0


def _size(box: tuple[Point, ...]) -> tuple[float, float]:
    """Return the width and the height of a quadrangle, whose corners are in clockwise order from the upper left."""
    return math.dist(box[0], box[1]), math.dist(box[1], box[2])
