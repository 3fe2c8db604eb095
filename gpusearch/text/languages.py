"""Codes of languages (ISO 639), so that a name or a mistyped code is not taken for a language without rules."""

from __future__ import annotations

import difflib
from functools import cache
from typing import NamedTuple

from gpusearch.errors import InputError

# The code of two letters (ISO 639-1), the one or two of three letters (ISO 639-2), the name.
_TABLE = """
aa aar Afar, ab abk Abkhazian, ae ave Avestan, af afr Afrikaans, ak aka Akan, am amh Amharic, an arg Aragonese,
ar ara Arabic, as asm Assamese, av ava Avaric, ay aym Aymara, az aze Azerbaijani, ba bak Bashkir, be bel Belarusian,
bg bul Bulgarian, bh bih Bihari, bi bis Bislama, bm bam Bambara, bn ben Bengali, bo bod/tib Tibetan, br bre Breton,
bs bos Bosnian, ca cat Catalan, ce che Chechen, ch cha Chamorro, co cos Corsican, cr cre Cree, cs ces/cze Czech,
cu chu Church Slavonic, cv chv Chuvash, cy cym/wel Welsh, da dan Danish, de deu/ger German, dv div Maldivian,
dz dzo Dzongkha, ee ewe Ewe, el ell/gre Greek, en eng English, eo epo Esperanto, es spa Spanish, et est Estonian,
eu eus/baq Basque, fa fas/per Persian, ff ful Fulah, fi fin Finnish, fj fij Fijian, fo fao Faroese, fr fra/fre French,
fy fry Frisian, ga gle Irish, gd gla Scottish Gaelic, gl glg Galician, gn grn Guarani, gu guj Gujarati, gv glv Manx,
ha hau Hausa, he heb Hebrew, hi hin Hindi, ho hmo Hiri Motu, hr hrv Croatian, ht hat Haitian Creole, hu hun Hungarian,
hy hye/arm Armenian, hz her Herero, ia ina Interlingua, id ind Indonesian, ie ile Interlingue, ig ibo Igbo,
ii iii Nuosu, ik ipk Inupiaq, io ido Ido, is isl/ice Icelandic, it ita Italian, iu iku Inuktitut, ja jpn Japanese,
jv jav Javanese, ka kat/geo Georgian, kg kon Kongo, ki kik Kikuyu, kj kua Kuanyama, kk kaz Kazakh, kl kal Greenlandic,
km khm Khmer, kn kan Kannada, ko kor Korean, kr kau Kanuri, ks kas Kashmiri, ku kur Kurdish, kv kom Komi,
kw cor Cornish, ky kir Kyrgyz, la lat Latin, lb ltz Luxembourgish, lg lug Ganda, li lim Limburgan, ln lin Lingala,
lo lao Lao, lt lit Lithuanian, lu lub Luba-Katanga, lv lav Latvian, mg mlg Malagasy, mh mah Marshallese,
mi mri/mao Maori, mk mkd/mac Macedonian, ml mal Malayalam, mn mon Mongolian, mr mar Marathi, ms msa/may Malay,
mt mlt Maltese, my mya/bur Burmese, na nau Nauru, nb nob Norwegian Bokmål, nd nde North Ndebele, ne nep Nepali,
ng ndo Ndonga, nl nld/dut Dutch, nn nno Norwegian Nynorsk, no nor Norwegian, nr nbl South Ndebele, nv nav Navajo,
ny nya Chichewa, oc oci Occitan, oj oji Ojibwa, om orm Oromo, or ori Oriya, os oss Ossetian, pa pan Punjabi,
pi pli Pali, pl pol Polish, ps pus Pashto, pt por Portuguese, qu que Quechua, rm roh Romansh, rn run Rundi,
ro ron/rum Romanian, ru rus Russian, rw kin Kinyarwanda, sa san Sanskrit, sc srd Sardinian, sd snd Sindhi,
se sme Northern Sami, sg sag Sango, si sin Sinhala, sk slk/slo Slovak, sl slv Slovenian, sm smo Samoan, sn sna Shona,
so som Somali, sq sqi/alb Albanian, sr srp Serbian, ss ssw Swati, st sot Southern Sotho, su sun Sundanese,
sv swe Swedish, sw swa Swahili, ta tam Tamil, te tel Telugu, tg tgk Tajik, th tha Thai, ti tir Tigrinya,
tk tuk Turkmen, tl tgl Tagalog, tn tsn Tswana, to ton Tongan, tr tur Turkish, ts tso Tsonga, tt tat Tatar, tw twi Twi,
ty tah Tahitian, ug uig Uyghur, uk ukr Ukrainian, ur urd Urdu, uz uzb Uzbek, ve ven Venda, vi vie Vietnamese,
vo vol Volapük, wa wln Walloon, wo wol Wolof, xh xho Xhosa, yi yid Yiddish, yo yor Yoruba, za zha Zhuang,
zh zho/chi Chinese, zu zul Zulu
"""


_EXPECTED = "two letters, such as fr, or three for a language that has no two"


class Language(NamedTuple):
    """A language that has a code of two letters."""

    code: str
    three_letters: tuple[str, ...]
    name: str


@cache
def languages() -> dict[str, Language]:
    """The languages that have a code of two letters, by that code."""
    rows = [entry.split(maxsplit=2) for entry in _TABLE.split(",")]
    return {code: Language(code, tuple(three.split("/")), " ".join(name.split())) for code, three, name in rows}


def check_language(code: str, name: str = "the language") -> None:
    """Refuse what is no code of a language: two letters of ISO 639-1, or any three where a language has no two.

    Args:
        name: of the setting, for the message.

    Raises:
        InputError: names languages that may be meant, with their codes.
    """
    known = {form.casefold(): one for one in languages().values() for form in (one.code, *one.three_letters, one.name)}
    three_letters = len(code) == 3 and code.isascii() and code.isalpha() and code.islower()
    if code in languages() or (three_letters and code not in known):
        return
    form = code.casefold().replace("_", "-")
    near = [one for one in (form, form.partition("-")[0]) if one in known][:1]
    near = near or difflib.get_close_matches(form, known, n=3, cutoff=0.7)
    shown = ", ".join(dict.fromkeys(f"{known[one].code} ({known[one].name})" for one in near))
    raise InputError(
        f"{name} is no code of ISO 639",
        found=repr(code),
        expected=_EXPECTED,
        hint=f"nearest known: {shown}" if shown else None,
    )
