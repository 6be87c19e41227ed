import struct
import zlib
from contextlib import suppress
from io import BytesIO

import pytest
from PIL import Image

from sextant.domain.errors import FileBroken, FileTooLarge, FileTypeUnknown, FileUnsafe
from sextant.models.chat.pictures import PictureLimits, is_picture, read_picture

LIMITS = PictureLimits(max_bytes=200_000, max_pixels=1_000_000, edge=256)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    written = BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def png_of(width: int, height: int) -> bytes:
    """Return a valid header of a PNG of any dimensions, with almost no data: a bomb."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(10_000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_images_become_jpegs_of_bounded_size(kind: str, mode: str) -> None:
    content = (
        encoded(Image.new(mode, (1000, 500), 7), kind) if (kind, mode) != ("JPEG", "P") else b""
    )
    if not content:
        content = encoded(Image.new("CMYK", (1000, 500)), kind)
    picture = read_picture(content, LIMITS)
    again = Image.open(BytesIO(picture.jpeg))
    assert (again.format, again.mode, again.size) == ("JPEG", "RGB", (256, 128))
    assert (picture.width, picture.height) == (1000, 500)
    assert picture.data_uri.startswith("data:image/jpeg;base64,/9j/")


def test_metadata_do_not_leave_with_the_image() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home, 52.5N 13.4E"
    content = encoded(Image.new("RGB", (64, 32)), "JPEG", exif=exif, comment=b"secret comment")
    assert b"at home" in content
    jpeg = read_picture(content, LIMITS).jpeg
    assert b"at home" not in jpeg
    assert b"secret" not in jpeg
    assert not Image.open(BytesIO(jpeg)).getexif()


def test_an_image_is_turned_as_its_camera_says() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # rotated by 90 degrees
    content = encoded(Image.new("RGB", (100, 50)), "JPEG", exif=exif)
    assert Image.open(BytesIO(read_picture(content, LIMITS).jpeg)).size == (50, 100)


def test_transparent_parts_are_white() -> None:
    content = encoded(Image.new("RGBA", (10, 10), (0, 0, 0, 0)), "PNG")
    pixel = Image.open(BytesIO(read_picture(content, LIMITS).jpeg)).getpixel((5, 5))
    assert isinstance(pixel, tuple)
    assert min(pixel) > 250


@pytest.mark.parametrize("size", [(60_000, 60_000), (1001, 1000), (2**31 - 1, 1)])
def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    content = png_of(*size)
    assert len(content) < 500
    with pytest.raises(FileUnsafe, match="1 million pixels"):
        read_picture(content, LIMITS)


def test_the_limit_of_pixels_itself_is_allowed() -> None:
    picture = read_picture(encoded(Image.new("L", (1000, 1000)), "PNG"), LIMITS)
    assert (picture.width, picture.height) == (1000, 1000)


def test_more_than_one_frame_is_refused() -> None:
    frames = [Image.new("L", (8, 8), shade) for shade in (0, 255)]
    content = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(FileUnsafe, match="2 frames"):
        read_picture(content, LIMITS)


def test_too_many_bytes_are_refused() -> None:
    with pytest.raises(FileTooLarge, match="200,000"):
        read_picture(bytes(200_001), LIMITS)


@pytest.mark.parametrize(
    "content",
    [b"", b"just text", b"%PDF-1.7 ...", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"BM"],
)
def test_what_is_no_image_is_refused_whatever_it_is_called(content: bytes) -> None:
    assert not is_picture(content)
    with pytest.raises(FileTypeUnknown, match="PNG, JPEG, WebP or GIF"):
        read_picture(content, LIMITS)


@pytest.mark.parametrize("kept", [12, 60, 0.5, -5])
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_image_is_refused(kind: str, kept: float) -> None:
    whole = encoded(Image.effect_noise((200, 200), 60).convert("RGB"), kind)
    cut = whole[: int(len(whole) * kept)] if 0 < kept < 1 else whole[: int(kept)]
    if kind == "WEBP" and kept == 12:
        cut += b"VP8 "
    if kept == -5 and kind != "WEBP":
        cut = whole[:100] + bytes(100) + whole[200:]  # damaged in the middle
    # Only a JPEG's pixels have no checksum: one that is damaged in the middle may still be decoded.
    refused = pytest.raises(FileBroken) if (kind, kept) != ("JPEG", -5) else suppress(FileBroken)
    with refused:
        read_picture(cut, LIMITS)


def test_a_script_behind_an_image_does_not_leave_with_it() -> None:
    content = encoded(Image.new("RGB", (8, 8)), "PNG") + b"<script>alert(1)</script>"
    assert b"script" not in read_picture(content, LIMITS).jpeg
