"""Text files in the encodings that Chinese offices have, down to titles of three characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import FileTypeUnknown
from sextant.ingestion.parsing.encodings import decode

SIMPLIFIED = [
    "糖尿病",
    "付款节点",
    "你好",
    "第一章 总则",
    "合同编号：2024-001",
    "Rust 所有权",
    "鑫淼科技有限公司",
    "龙",
]
TRADITIONAL = [
    "糖尿病",
    "付款節點",
    "臺灣大學",
    "第一章 總則",
    "合約編號：2024-001",
    "Rust 所有權",
    "我們在這裡",
]
COMMON = st.sampled_from(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严"
)


@pytest.mark.parametrize("text", SIMPLIFIED)
def test_short_simplified_chinese_in_gb18030(text: str) -> None:
    assert decode(text.encode("gb18030")).text == text


@pytest.mark.parametrize("text", TRADITIONAL)
def test_short_traditional_chinese_in_big5(text: str) -> None:
    assert decode(text.encode("big5")).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", SIMPLIFIED + TRADITIONAL)
def test_unicode_with_and_without_byte_order_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_byte_order_mark(encoding: str) -> None:
    text = "合同编号：2024-001\n甲方应当在收到发票后付款。\n"

    assert decode(text.encode(encoding)).text == text


@given(st.lists(COMMON, min_size=20, unique=True).map("".join))  # fewer may be Korean as well
def test_any_text_of_common_characters_survives_gb18030(text: str) -> None:
    content = text.encode("gb18030")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        assert decode(content).text == text
    else:  # 一 by itself is valid UTF-8 too, where it is the Cyrillic һ; then UTF-8 it is
        assert decode(content).encoding == "utf-8"


@pytest.mark.parametrize(
    "text", ["café au lait, déjà vu", "Müller & Söhne — naïve", "it’s “quoted”"]
)
def test_western_text_in_windows_1252(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def test_a_few_damaged_bytes_do_not_turn_utf_8_into_something_else() -> None:
    damaged = ("糖尿病的诊断标准。" * 20).encode()[:-1] + b"\xff"

    decoded = decode(damaged)

    assert decoded.encoding == "utf-8"
    assert decoded.damaged == 2
    assert decoded.text.startswith("糖尿病的诊断标准。")


def test_a_character_cut_by_the_sampled_beginning_is_no_damage() -> None:
    text = "a" + "糖" * 40_000

    assert decode(text.encode("utf-8")).text == text
    assert decode(text.encode("gb18030")).text == text


def test_a_page_that_names_its_encoding_is_believed_only_where_it_fits() -> None:
    content = "価格".encode("shift_jis")

    assert decode(content, declared="shift_jis").text == "価格"
    assert decode("价格表".encode(), declared="ascii").text == "价格表"
    assert decode("价格表".encode(), declared="no-such-code").text == "价格表"


def test_random_bytes_are_no_text() -> None:
    with pytest.raises(FileTypeUnknown):
        decode(bytes(range(256)) * 8)


@given(st.binary(max_size=400))
def test_any_bytes_give_text_or_the_typed_error(content: bytes) -> None:
    try:
        decoded = decode(content)
    except FileTypeUnknown:
        return
    assert isinstance(decoded.text, str)


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("회의는 다음 주 월요일에 열립니다. 장소는 3층 회의실입니다.", "cp949 euc_kr"),
        ("휴가 규정 안내", "euc_kr"),
        ("会議は来週の月曜日に開催します。場所は三階の会議室です。", "cp932 euc_jp iso2022_jp"),
        ("Совещание состоится в понедельник в десять часов. Место: третий этаж.", "cp1251 koi8_r iso8859_5"),
        ("Цена билета составляет 350 рублей.", "cp1251 koi8_r iso8859_5 cp866"),
        ("Отпуск", "cp1251 iso8859_5"),
        ("Нарада відбудеться у понеділок о десятій годині, третій поверх.", "cp1251 koi8_u"),
        ("Le prix est de 45 € par mois, payable à l'avance. Le cœur de l'œuvre.", "cp1252 iso8859_15"),
        ("Das Büro öffnet um 7:30 Uhr. Die Straße ist für Fußgänger gesperrt.", "cp1252 iso8859_15"),
        ("Zażółć gęślą jaźń. Spotkanie odbędzie się w poniedziałek o dziesiątej.", "cp1250 iso8859_2"),
        ("الاجتماع يوم الاثنين في الساعة العاشرة", "cp1256"),
        ("การประชุมจะมีขึ้นในวันจันทร์", "cp874"),
        ("Il a déjà mangé à l'hôtel, près du théâtre.", "mac_roman"),
        ("Réunion à huit heures", "utf-32-le utf-32-be"),
        ("Toplantı pazartesi günü saat onda yapılacaktır, lütfen öğrenin.", "cp1254"),
        ("Η συνάντηση θα γίνει τη Δευτέρα στις δέκα το πρωί.", "cp1253"),
        ("הפגישה תתקיים ביום שני בשעה עשר בבוקר בקומה השלישית.", "cp1255"),
    ],
)  # fmt: skip
def test_texts_of_the_world_are_read_as_they_are_written(text: str, encodings: str) -> None:
    for encoding in encodings.split():
        assert decode(text.encode(encoding)).text == text, encoding


def test_a_label_of_single_bytes_yields_to_utf_8() -> None:
    text = "Größe – 5 €"
    assert decode(text.encode(), "iso-8859-1").text == text
    assert decode(text.encode("cp1252"), "iso-8859-1").text == text
    assert decode("联通".encode("gbk"), "gb2312").text == "联通"  # which are also bytes of UTF-8


def test_a_guess_is_said_to_be_one() -> None:
    decoded = decode("Отчёт за март".encode("koi8_r"))
    assert decoded.text == "Отчёт за март" or "was guessed" in str(decoded.warnings[0])
    assert decode("Отчёт".encode()).warnings == ()
    # Windows-1252 has it by its frequency alone.
    text = "Alle Menschen sind frei und gleich an Würde und Rechten geboren."
    decoded = decode(text.encode("mac_roman"))
    assert decoded.text == text or "was guessed" in str(decoded.warnings[0])


@pytest.mark.parametrize("label", ["gb2312", "iso-8859-1", "windows-1252", "big5"])
def test_a_label_under_which_bytes_are_no_text_yields_to_chinese(label: str) -> None:
    text = "會議訂於五月六日上午十時，地點為第三會議室，費用為新台幣1,200元。"
    assert decode(text.encode("big5"), label).text == text


@pytest.mark.parametrize(
    ("text", "label"),
    [("画像処理", "shift_jis"), ("画像処理", "euc-jp"), ("Mavenのビット：テスト", "gb2312")],
)
def test_a_right_label_of_a_few_words_of_japanese_is_believed(text: str, label: str) -> None:
    assert decode(text.encode(label), label).text == text


def test_a_label_of_latin_letters_is_believed_of_words_with_many_accents() -> None:
    assert decode("Größe: é à ü".encode("cp1252"), "iso-8859-1").text == "Größe: é à ü"
