"""Secrets are taken out of every text before it is written anywhere.

Three kinds of evidence, from strong to weak: a token that names its own service, a value in a place where credentials
stand (`password=`, "the PIN is …", a header, a URL), and random-looking characters beside a word like "token". The
weaker the evidence, the more the value itself has to look like a secret. Losing a word too many is better than
keeping a password.

Every pattern starts from a literal and is bounded, so the time is linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from foreword.patterns import lazy
from foreword.values import dataclass

_PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Redacted:
    """`text` without its secrets, and the kinds that were found, in order of appearance, each once."""

    text: str
    found: tuple[str, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    kind: str
    rank: int


def redact(text: str) -> Redacted:
    """Takes secrets out of `text`; doing it twice equals doing it once, and nothing else in the text changes.

    A secret becomes `[redacted: <kind>]`. A `<private>` block leaves nothing, or one space where two words would meet.
    """
    found: dict[str, None] = {}
    # Taking one secret out can lay bare another, so this goes on until nothing is found; two rounds are the rule.
    for _ in range(_ROUNDS):
        spans = _spans(text)
        if not spans:
            break
        found.update(dict.fromkeys(span.kind for span in spans))
        text = _without(text, spans)
    return Redacted(text, tuple(found))


_ROUNDS = 12


class _Service(NamedTuple):
    """A token that is known by its looks. `hints` are lower case; without one of them the pattern is not tried. The
    first group is the secret, or the whole match where there is none."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def _service(kind: str, hints: str, pattern: str, check: Callable[[str], bool] | None = None) -> _Service:
    return _Service(kind, tuple(hints.split()), lazy(pattern), check)


def _has_a_long_run(token: str) -> bool:
    """A key has a stretch without punctuation that no hyphenated name has."""
    return any(len(run) >= 16 for run in re.split(r"[-_.]", token)) and any(char.isdigit() for char in token)


def _passes_luhn(number: str) -> bool:
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_HEX32 = r"[0-9a-f]{32}"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

_SERVICES = (
    _service("GitHub token", "ghp_ gho_ ghs_ ghu_ ghr_", r"gh[opsur]_[A-Za-z0-9_]{20,}(?:\.[A-Za-z0-9_-]{10,})*"),
    _service("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _service("GitLab token", "gl", r"gl(?:pat|dt|rt|rtr|ptt|ft|soat|imt|agent|cbt|ffct|oas)-[A-Za-z0-9_-]{16,}"),
    _service("Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{10,}"),
    _service("OpenRouter key", "sk-or-", r"sk-or-[A-Za-z0-9_-]{20,}"),
    _service("OpenAI key", "sk-", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}", _has_a_long_run),
    _service("AWS access key", "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    # The secret half has no looks of its own; beside its id it is known by its length.
    _service(
        "AWS secret key",
        "akia asia",
        r"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9+]{1,40}(?:[A-Za-z_ ]{1,40}[^A-Za-z0-9+]{1,10})?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _service("Google key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    _service("Google token", "ya29. gocspx-", r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}"),
    _service("Google token", "1//0", r"1//0[A-Za-z0-9_-]{30,}"),
    _service("Slack token", "xox xapp-", r"(?:xox[a-z]|xoxe\.xox[a-z]|xapp)-[A-Za-z0-9-]{10,}"),
    _service("Slack webhook", "hooks.slack", r"hooks\.slack(?:-gov)?\.com/[a-z]{3,20}/([A-Za-z0-9/_-]{10,})"),
    _service("Discord webhook", "api/webhooks/", r"api/webhooks/\d{5,25}/([A-Za-z0-9_-]{20,})"),
    _service("Discord token", ".", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", _has_a_long_run),
    _service("Discord token", "mfa.", r"mfa\.[A-Za-z0-9_-]{60,}"),
    _service("Teams webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{20,})"),
    _service("Telegram token", ":", r"(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _service("Telegram token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    _service("Stripe key", "sk_ rk_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    _service("Stripe key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    _service(
        "Azure key", "accountkey= sharedaccesskey=", r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"
    ),
    _service("Azure signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,})"),
    _service("Azure secret", "q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}"),
    _service("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _service("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{32,}", _has_a_long_run),
    _service("SendGrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _service("Twilio key", "sk", rf"(?<![A-Za-z0-9])SK{_HEX32}(?![A-Za-z0-9])"),
    _service("Mailgun key", "key-", rf"(?<![A-Za-z0-9])key-{_HEX32}(?![A-Za-z0-9])"),
    _service("Mailgun key", "mailgun", rf"(?<![A-Za-z0-9]){_HEX32}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![A-Za-z0-9-])"),
    _service("Mailchimp key", "-us", rf"(?<![A-Za-z0-9]){_HEX32}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    _service("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _service("DigitalOcean token", "_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    _service("Shopify token", "shp", r"shp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{32,}"),
    _service("Square token", "eaaa sq0", r"EAAA[A-Za-z0-9_-]{56,}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    _service("Facebook token", "eaa", r"(?<![A-Za-z0-9])EAA[A-Za-z0-9]{90,}"),
    _service("Heroku key", "hrku-", r"HRKU-[A-Za-z0-9_-]{30,}"),
    _service(
        "Heroku key", "heroku", rf"(?i:heroku)[^\n]{{0,40}}?(?i:key|token|auth|secret)[^\n0-9a-f]{{0,12}}({_UUID})"
    ),
    _service("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    _service("Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    _service("Notion token", "ntn_ secret_", r"(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    _service("Vault token", "hv", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    _service("age key", "age-secret-key-", r"(?i:AGE-SECRET-KEY-)(?:PQ-)?1[A-Za-z0-9]{50,}"),
    _service("1Password token", "ops_ey", r"ops_ey[A-Za-z0-9+/_-]{60,}={0,3}"),
    _service("1Password key", "a3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _service("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}"),
    _service("Atlassian token", "atatt3 atctt3", r"AT[AC]TT3[A-Za-z0-9_=-]{50,}"),
    _service("Atlassian token", "atbb", r"ATBB[A-Za-z0-9]{24,}"),
    _service("JSON web token", "eyj eyk", r"ey[JK][A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3}"),
    _service("Grafana token", "glsa_ glc_", r"(?:glsa|glc)_[A-Za-z0-9_+/=]{30,}"),
    _service("Sentry token", "sntry", r"sntry[su]_[A-Za-z0-9_+/=-]{40,}"),
    _service("New Relic key", "nrak- nraa- nrii-", r"NR(?:AK|AA|II)-[A-Za-z0-9_-]{20,}"),
    _service("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    _service("Pulumi token", "pul-", r"(?<![A-Za-z0-9])pul-[a-f0-9]{40}"),
    _service("Docker token", "dckr_", r"dckr_[op]at_[A-Za-z0-9_-]{20,}"),
    _service("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _service("Clojars token", "clojars_", r"(?i:CLOJARS_)[a-z0-9]{50,}"),
    _service("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    _service("Supabase key", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40,}|sb_secret_[A-Za-z0-9_-]{20,}"),
    _service("Postman key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _service("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    _service("Replicate token", "r8_", r"(?<![A-Za-z0-9])r8_[A-Za-z0-9]{36,}"),
    _service("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _service("xAI key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _service("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _service("NVIDIA key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,}"),
    _service("Tavily key", "tvly-", r"tvly-[A-Za-z0-9_-]{24,}"),
    _service("Firecrawl key", "fc-", rf"(?<![A-Za-z0-9])fc-{_HEX32}"),
    _service("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}"),
    _service("Figma token", "figd_", r"figd_[A-Za-z0-9_-]{30,}"),
    _service("Airtable token", "pat", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _service("HubSpot token", "pat-", rf"(?<![A-Za-z0-9])pat-[a-z]{{2}}[0-9]-{_UUID}"),
    _service("Dropbox token", "sl.", r"(?<![A-Za-z0-9])sl\.[A-Za-z0-9_-]{100,}"),
    _service("Tailscale key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{16,}"),
    _service("Fly token", "fm1_ fm2_ fo1_", r"(?:fm[12]|fo1)_[A-Za-z0-9+/=_,-]{30,}"),
    _service("Resend key", "re_", r"(?<![A-Za-z0-9])re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _service("Mapbox token", "sk.ey", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _service("Alibaba key", "ltai", r"(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{16,}"),
    _service("Artifactory key", "akcp", r"(?<![A-Za-z0-9])AKCp[A-Za-z0-9]{60,}"),
    _service("Contentful token", "cfpat-", r"CFPAT-[A-Za-z0-9_-]{40,}"),
    _service("Sourcegraph token", "sgp_", r"sgp_(?:[A-Za-z0-9]{1,20}_)?[a-f0-9]{40,}"),
    _service("Zapier webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,})"),
    # A JSON web key's private members.
    _service("private key", '"kty"', r'"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{20,})"'),
    _service("private key", "private-lines:", r"Private-Lines:[ \t]{0,4}[0-9]{1,4}((?:\s{1,4}[A-Za-z0-9+/=]{2,80})+)"),
    _service(
        "URL password", "://", r"://[^\s/:@\"'<>]{0,256}:([^\s/\"'<>`]{1,512})@", lambda value: not _is_blank(value)
    ),
    _service("URL token", "://", r"://([A-Za-z0-9_-]{20,256})@", lambda value: _is_random(value)),
)

# Plausible groupings of the large issuers only, found at every start, because an order number may stand in front.
_CARD = lazy(
    r"(?<![\w.])(?=((?:"
    r"(?:4[0-9]|5[1-5]|2[2-7]|35|6[0245])[0-9]{2}([ .\u00a0-]?)[0-9]{4}\2[0-9]{4}\2[0-9]{4}"
    r"|3[47][0-9]{2}([ .\u00a0-]?)[0-9]{6}\3[0-9]{5}"
    r"|3[068][0-9]{2}([ .\u00a0-]?)[0-9]{6}\4[0-9]{4}"
    r")(?![\w-])(?!\.[0-9])))"
)
_EIGHT_DIGITS = lazy(r"[0-9]{4}[ .\u00a0-]?[0-9]{4}")

_KEY_BEGIN = lazy(r"[-–—]{2,5}\s?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?[-–—]{2,5}")
_KEY_END = lazy(r"[-–—]{2,5}\s?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?[-–—]{2,5}")
# What is left of a key whose end was cut off: headers, and lines of base64 with real or escaped line breaks between.
_KEY_BODY = lazy(
    r"(?:(?:\s|\\{1,4}[nrt]|[\"',>|#*])*"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n\\]{0,200}|=?[A-Za-z0-9+/_-]{16,}={0,2}))*"
    r"(?:(?:\n|\\{1,4}n)[ \t]{0,8}[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\|[\"']|\Z))?"
)

_PRIVATE_TAG = lazy(r"(?:<|&lt;|\\u003c)\s{0,4}(/?)\s{0,4}private\b[^<>&\\]{0,200}(?:>|&gt;|\\u003e)", re.IGNORECASE)

# Characters that show nothing; inside a token they would hide it.
_INVISIBLE = lazy("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")

# Where a credential's name ends and its value may begin, for a text in lower case. A name may carry a short ending
# (`DB_PASSWORD_PROD`), but not one that makes it another thing (`token_count`, `password_file`).
_NAME_TAIL = (
    r"(?:[_-]?(?:[0-9]{1,3}|prod|production|dev|development|test|staging|stage|live|root|admin|user|db|value|old|new"
    r"|plain|plaintext|raw|b64|base64|string)){0,2}"
)
_ASSIGNED = (
    r"[\"'`\\\])}*_]{0,4}[ \t]{0,8}"
    r"(?::[ \t]{0,2}(?:&?str|string|secretstr|bytes|char\*?|optional\[str\]|str \| none)[ \t]{0,2}="
    r"|=>|:=|={1,3}|->|→|[:：＝])"
    r"[*_]{0,3}(?:[ \t]{0,4}\r?\n[ \t]{0,8}|[ \t]{0,16})"
)
_ABOUT = (
    r"(?:[ \t]{1,4}(?:for|to|of|on|in|at|von|für|fuer|vom|zum|zur|de|del|du|da|do|della|per|pour|para|på|til|voor|van)"
    r"[ \t]{1,4}(?:[^\n.!?:;=]|\.(?=\S)){1,60}?)?"
)
_IS = (
    r"[ \t]{1,4}(?:(?:has been |is |was )?(?:changed|set|reset) to|is|was|will be|should be|equals|became"
    r"|ist|lautet|war|est|es|era|é|è|jest|är|er|это)(?=[ \t\r\n:])"
    r"(?:[ \t]{1,4}(?:now|still|just|simply|currently|actually|always|jetzt|nun|noch|ahora|maintenant|agora|ora|nu))?"
    r"[ \t]{0,4}:?[ \t]{0,4}"
)
_SAID = _ABOUT + _IS
# "my password's hunter2"; but "the password's expiry" is no password.
_OWNED = r"['’]s[ \t]{1,4}"
# The value on a line of its own, with up to three empty lines in front of it.
_BELOW = r"[*_]{0,3}[ \t]{0,4}[:：]?[*_]{0,3}[ \t]{0,4}(?:\r?\n[ \t]{0,8}){1,4}"
_SAID_IN_CJK = r"[ \t]{0,2}(?:是|为|為|：|は|が|는|은|:|=)[ \t]{0,2}(?=[\x21-\x7e])"
_BESIDE = r"[ \t]{1,4}(?=[\"'`“«])"

_PASSWORD_NAMES = (
    "password passwort passwd passcode kennwort pwd contraseña contrasena senha wachtwoord lösenord losenord hasło"
    " haslo adgangskode salasana şifre пароль пароля jelszó heslo"
).split()
_PHRASE = r"(?:pass|seed|secret|recovery|backup|wallet)[ _-]?(?:phrase|words|codes?|key(?=s? (?:is|are)|s?:))|mnemonic"
_PHRASE_HINTS = ("phrase", "mnemonic", "recovery", "backup", "wallet")

_AFTER_NAME = (
    rf"(?:{_NAME_TAIL}(?P<assigned>{_ASSIGNED})(?=\S)|{_BESIDE}|(?P<owned>{_OWNED})"
    rf"|{_ABOUT}(?:(?P<said>{_IS})(?=[^\s:]|:\S)|(?P<below>(?:{_IS})?{_BELOW})(?=\S)"
    r"|(?P<loose>[ \t]{0,2}[:：][ \t]{1,4})(?=\S)))"
)
# A login and its password in one line: "login: bob / hunter2". Only what is called a login may do without the spaces.
_LOGIN_IS = rf"(?:{_ASSIGNED}|[ \t](?:is|are|as|with)[ \t]{{1,4}})[a-z_][\w.@+-]{{0,63}}"
_PAIR = lazy(
    rf"(?<![a-z])(?:(?:logins?|logon|credentials?|creds|user|username){_LOGIN_IS}[ \t]{{1,4}}[/|][ \t]{{1,4}}"
    rf"|(?:logins?|logon|credentials?|creds){_LOGIN_IS}(?P<tight>[/:]))(?=[^\s/:])"
)
_PAIR_HINTS = ("login", "logon", "cred", "user")
_AFTER_PASSWORD = [(name, lazy(rf"{name}s?{_AFTER_NAME}")) for name in _PASSWORD_NAMES]
_AFTER_PASSWORD += [
    ("mot de passe", lazy(rf"mot de passe(?:[ \t]?(?P<assigned>{_ASSIGNED})|(?P<said>{_SAID}))")),
    ("hasło", lazy(r"hasło[ \t]{1,4}(?P<said>to)[ \t]{1,4}")),
    ("haslo", lazy(r"haslo[ \t]{1,4}(?P<said>to)[ \t]{1,4}")),
    # "pass" and "pw" alone are words of tests and electronics; only these shapes of them name a password.
    ("_pass", lazy(rf"_pass{_NAME_TAIL}(?P<assigned>{_ASSIGNED})")),
    ("pass", lazy(r"(?<![a-z0-9])pass(?P<assigned>=)(?![=\s])")),
    ("pass:", lazy(r"(?<![a-z0-9])pass(?P<assigned>:[ \t]{0,2})(?=\S{0,64}[a-z])(?=\S{0,64}[0-9])")),
    ("pw", lazy(rf"(?<![a-z0-9])pw(?:(?P<assigned>{_ASSIGNED})|(?P<said>{_SAID}))")),
    *((word, lazy(word + f"(?P<said>{_SAID_IN_CJK})")) for word in ("密码", "密碼", "口令", "パスワード", "비밀번호")),
    # netrc, container files, Windows and fish, Redis, SQL.
    ("login", lazy(r"login[ \t]+\S{1,80}\s{1,8}(?P<assigned>password)[ \t]{1,4}")),
    ("env ", lazy(r"(?<![a-z])env[ \t]{1,4}\w{0,40}pass(?:word|wd)?(?P<assigned>[ \t]{1,4})(?!=)")),
    ("setx ", lazy(r"setx[ \t]{1,4}\w{0,40}pass(?:word|wd)?(?P<assigned>[ \t]{1,4})")),
    ("set -", lazy(r"set -\w{1,4}[ \t]{1,4}\w{0,40}pass(?:word|wd)?(?P<assigned>[ \t]{1,4})")),
    ("requirepass", lazy(r"requirepass(?P<assigned>[ \t]{1,4})")),
    ("identified by", lazy(r"identified by(?P<assigned>[ \t]{1,4})(?=[\"'])")),
    # Command lines.
    ("-pass", lazy(r"--?(?:[a-z]{1,16}-){0,3}pass(?:word|wd|phrase)?(?P<assigned>=|[ \t]{1,4})")),
    ("sshpass", lazy(r"sshpass[ \t]{1,4}-p(?P<assigned>[ \t]{0,4})")),
    ("mysql", lazy(r"mysql[a-z]{0,8}[ \t][^\n|;&]{0,120}?(?<=[ \t])-p(?P<assigned>)(?=[^\s-])")),
    ("mariadb", lazy(r"mariadb[a-z-]{0,8}[ \t][^\n|;&]{0,120}?(?<=[ \t])-p(?P<assigned>)(?=[^\s-])")),
    ("redis-cli", lazy(r"redis-cli[ \t][^\n|;&]{0,120}?(?<=[ \t])-a(?P<assigned>)[ \t]{1,4}(?=[^\s-])")),
    (
        "curl",
        lazy(r"curl[ \t][^\n|;]{0,200}?(?<=[ \t])(?:-u|--user)[ \t=]{0,4}[\"']?[^\s:\"']{1,80}(?P<assigned>:)"),
    ),
]
# Most messages name no password, so one look for "pass", which each of the first needs, spares most of the others.
_OF_PASS = [(hint, pattern) for hint, pattern in _AFTER_PASSWORD if "pass" in pattern.pattern]
_IN_ASCII = [entry for entry in _AFTER_PASSWORD if entry not in _OF_PASS and entry[0].isascii()]
_BEYOND_ASCII = [entry for entry in _AFTER_PASSWORD if entry not in _OF_PASS and not entry[0].isascii()]
_AFTER_PHRASE = lazy(
    rf"(?:{_PHRASE})(?:{_NAME_TAIL}(?P<assigned>{_ASSIGNED})|(?P<said>{_SAID}|[ \t]are[ \t]:?)|{_BESIDE})"
)
_XML_SECRET = lazy(
    r"(?:password|passwd|passphrase|pwd|secret|apikey|api_key|api-key|token|privatekey)>([^<\n]{1,512})</"
)

_LOCKED = r"(?:safe|door|gate|alarm|lock|lockbox|locker|padlock|garage|vault|keypad|suitcase|building|tresor)"
_PIN = lazy(
    r"(?<![a-z])(?:pin(?:[ -]?(?:code|number|nummer))?|cvv2?|cvc2?|otp|tan|passcode|code pin|geheimzahl"
    r"|(?:security|unlock|access|2fa|mfa|verification|one-time|sms|login|confirmation)[ -](?:code|pin)"
    rf"|{_LOCKED}(?:['’]s)?[ -](?:code|pin|combination|combo)"
    r"|(?:(?<!error )(?<!status )(?<!exit )code|combination|combo)[ \t](?:of|for|to|on)[ \t]"
    rf"(?:[a-z]{{1,12}}[ \t]){{0,3}}{_LOCKED}"
    # Alone, a combination is known by its three turns; most others are of colours or of keys.
    r"|combination(?=[^\n0-9]{1,80}[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}))(?![a-z])"
    rf"(?:{_ASSIGNED}|{_SAID}|{_OWNED}|[ \t]{{1,2}}(?=[0-9]{{4}}))[\"'`*]{{0,3}}"
    r"([0-9](?:[ -]?[0-9]){2,11})(?!\w|\.[0-9])"
)
_PIN_HINTS = ("pin", "cvv", "cvc", "otp", "tan", "code", "geheimzahl", "comb")

# Words that a random-looking value may follow. What stands before "key" and "token" says how much they mean.
_CREDENTIAL = lazy(
    rf"(?:secret|token|key|credential|creds|signature|jwt|bearer|sessionid|session_id|session|auth)s?"
    rf"(?:{_NAME_TAIL}(?P<assigned>{_ASSIGNED})|(?P<said>{_SAID}|{_OWNED})"
    rf"|(?P<beside>[\"'`)\]]{{0,2}}[ \t]{{1,3}}[(\[]?))"
)
_CREDENTIAL_HINTS = ("secret", "token", "key", "cred", "signature", "jwt", "bearer", "session", "auth")
_FLAG = lazy(r"--(?:[a-z]{1,16}-){0,3}(?:token|secret|key|apikey)(?:=|[ \t]{1,4})")
_STRONG_BEFORE = lazy(
    r"(?:api|access|secret|private|signing|encryption|master|account|shared|auth|license|deploy|service|app|client|webhook"
    r"|refresh|bearer|bot|session|csrf|xsrf|id|oauth|personal|pat|user|security|registration|jwt|hmac"
    r"|consumer)[ _.-]?\Z"
)
# Keys that identify something and open nothing.
_HARMLESS_BEFORE = lazy(
    r"(?:public|pub|primary|foreign|cache|sort|partition|idempotency|object|dict|map|row|shard|hash|cursor|next|page|sync"
    r"|continuation|publishable|host|s3|redis|registry|translation|i18n|react|etag)[ _-]?\Z"
)

_AUTHORIZATION = lazy(
    rf"authorization(?:{_ASSIGNED})[\"'`]?"
    r"(?P<scheme>(?:bearer|basic|token|digest|negotiate|apikey|key|bot|aws4-hmac-sha256)[ \t]{1,4})?"
)
_BEARER = lazy(r"(?<![a-z])bearer[ \t]{1,4}(?=[a-z0-9._~+/=-]{16})")
_COOKIE = lazy(r"(?<![a-z])(?:set-)?cookie[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?=[^\s=;\"']{1,80}=[^\s;])")
_COOKIE_VALUE = lazy(r"[^\n\r\"'\\]{1,4096}")

# "hunter2 is my password": the value stands in front, so it is looked for from here backwards.
_BEFORE_PASSWORD = lazy(
    r"[ \t](?:is|as|was|ist|als|est|es)[ \t](?:my|our|the|your|his|her|their|mein|das|dein|a|mon|mi)[ \t]"
    r"(?:[a-z]{1,12}[ \t])?"
    r"(?:password|passwort|passcode|pin|mot de passe|contraseña)(?![a-z_])"
)
_LAST_WORD = lazy(r"(\S{4,64})\Z")

_QUOTED = {
    '"': lazy(r'((?:[^"\\\n]|\\.){1,8192})"'),
    "'": lazy(r"((?:[^'\\\n]|\\.){1,8192})'"),
    "`": lazy(r"([^`\n]{1,8192})`"),
    "“": lazy(r"([^”\n]{1,8192})”"),
    "«": lazy(r"([^»\n]{1,8192})»"),
}
_ESCAPED_QUOTED = lazy(r"([^\"'\\\n]{1,8192})\\+[\"']")
_OPENING = lazy(r"(?:[bruf]{1,2}(?=[\"']))?(\\{0,3})([\"'`“«])", re.IGNORECASE)
# An unquoted value ends at white space, at an escaped line break, or where the next pair begins (`a=b&c=d`, `a=b;c=d`).
# A quote between two of its characters is one of them.
_UNQUOTED = lazy(
    r"(?:[^\s\"'`<>“”«»\\&;,]++|\\++(?![nrt])|[&;,](?![A-Za-z_][\w.-]{0,40}=)|(?<=\w)[\"'`](?=[\w$!@#^*])){1,4096}",
)
_GLUED = lazy(r"(?<=[\"'])[\w\"'](?=\w)")
_CLAUSE = lazy(r"[^\n\"“”]{1,400}?(?=[.!?;](?:\s|\Z)|\n|\"|”|\Z)|[^\n\"“”]{1,400}")

_MASKED = lazy(
    r"[*•●·.xX…_?#-]+|<.*|\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\$env:\w+|%\w+%|@\w+@|\{.*|\(.*|\[.*|!\w+ .*|&\w+|\\.*|/|\|.*"
)
_CODE = lazy(
    r"(?:new |await |return )?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*){0,8}[(\[].*"
    r"|(?:os|process|env|secrets|vars|var|self|this|config|cfg|settings|args|opts|options|request|req|params|data|form|user"
    r"|local|module|std|ctx|context|props|state|values|import|document|window|app|event|input|response|res|body)"
    r"(?:\.|->|::)[A-Za-z_][\w.]*",
    re.DOTALL,
)
# The name of a secret where the secret would stand: `password=db_password`, `"your-api-key"`, `token: accessToken`.
_NAMES_A_CREDENTIAL = lazy(
    r"(?=[A-Za-z_.<>{}$-]+\Z)(?:.*[_.<>{}$-])?(?i:pass(?:word|wd|code|phrase)?|pwd|pw|secret|token|key|cred|credential|auth"
    r"|your|example|placeholder|dummy|redacted|hidden|omitted|masked|changeme|insert|todo)s?(?:[_.<>{}$-].*)?"
    r"|[a-z][A-Za-z]*(?:Password|Secret|Token|Key|Credentials?)"
)
_PATH = lazy(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@-]{0,24}(?:[/\\][\w.@-]{1,24})*[/\\]?|\.[a-z]{2,12}")
_FILE = lazy(
    r"[\w./-]{1,80}\.(?:py|js|ts|json|ya?ml|toml|md|txt|env|cfg|ini|conf|pem|crt|key|sh|go|rs|html?|xml|lock|log)"
)
_PIECE = r"(?:[A-Za-z]*(?:[0-9]{1,2}[A-Za-z]*)?|[0-9]{3,4})"
_IDENTIFIER = lazy(rf"{_PIECE}(?:[-_./:]{_PIECE})+")
_IS_UUID = lazy(_UUID, re.IGNORECASE)
_IS_DIGEST = lazy(
    r"(?:[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})", re.I
)
_DIGEST_NAME = lazy(r"(?:sha|md)[0-9]{1,3}[-:].*", re.IGNORECASE)
_DIGIT = lazy(r"[0-9]")
_THREE_DIGITS = lazy(r"[0-9][ -]?[0-9][ -]?[0-9]")
_WORDY = lazy(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_TRANSITION = lazy(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_CANDIDATE = lazy(r"[A-Za-z0-9+/_~.=-]{16,512}")
_PLAIN_WORDS = lazy(r"(?: [a-z]{2,12}){2,7}(?=[ \t]*(?:[.,;!]|\r?\n|\Z))")

# Words that follow "password:" or "password is" in prose and in code, and are no password.
_PROSE = frozenset(
    """a about above after again all already also always am an and another any anything are as asked at auth
    automatically back bad based be because been before being below better between blank both but by can cannot case
    change changes char chars check clear code common configured correct could data default description did different do
    does done don't each either email empty encrypted enough enter error everything exactly expired expires external
    fail failed failure false field fields file find fine first flag for forgotten found free from function generated
    get given go goes good ha hash hashed hashing has have he her here hidden his how i id if important in incorrect
    input inside instead int integer invalid is it its itself just kept key known leaked length less let like literally
    long longer lost made managed manager many match matches matching may me mein might minimum missing more must my
    name needed needs never new nil no nobody none nor not nothing now null number object of off ok okay old on once one
    only open option optional or other our out over own param parameter part per plain please policy possible present
    prompt prompted protected provided public ready really refused rejected removed required reset resets right rotated
    rotation safe same save saved secret secure see sent set settings she short should shown similar simply since so
    some someone something sometimes soon stale still stored str string strong stronger such sure taken text that the
    their them then there these they this those to together token too true type unchanged undefined under unique unknown
    unset until unsafe up updated usage use used user users using usually valid value variable very via visible wanted
    was way we weak weaker well were what whatever when where whether which while who why will with within without word
    words working would wrong yes yet you your yours argument arguments bool boolean bytes callable class const def
    export let list map optional[str] promise return static var void enum validation validator
    nicht kein keine falsch richtig ist und oder der die das den dem ein eine zu zum zur im in auf mit für von wird
    no es el la los las un una en con para por que se su muy le les un une des dans avec pour sur pas ne il elle
    não o os as um uma em com é di il lo gli non che""".split()
)
_ADJECTIVE = lazy(r"[a-z-]{3,}(?:ed|ing|able|ible|sensitive|only|less|ly|ally|ised|ized|ation)")

# Where a password is only likely: what has digits or signs in it and is no password.
_KNOWN_SIGNS = lazy(
    r"(?:oauth|sha|md|base|utf|argon|pbkdf|http|ipv|ed|rsa|aes|saml|tls|ssl|fido|rfc|python|line|step|part|item|version"
    r"|field|user|column|option|v)[-_]?[0-9]{1,5}[a-z]{0,4}"
    r"|(?:v|http/)?[0-9]+(?:[.:/-][0-9]+)+|[0-9]{1,3}[a-z%]{1,4}|[0-9]+-[a-z-]+|[@#]\w+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_SHORT_KEY = lazy(r"[A-Za-z0-9_+/=~-]{8,64}")
_END_OF_LINE = lazy(r"[ \t*_\"'`]{0,8}(?:\r?\n|\Z)")
_END_OF_SENTENCE = lazy(r"[ \t]{0,4}[.!]{0,3}[ \t]{0,4}(?:\r?\n|\Z)")
# What may stand in front of "password" on a line that says nothing else, and in front of "password's" as a subject.
_A_FEW_WORDS = lazy(r"(?:\A|\n)[ \t>#*_|•\"'`-]{0,8}(?:[\w'’-]{1,20}[ \t]{1,2}){0,4}[\w*-]{0,20}\Z")
_A_SUBJECT = lazy(
    r"(?:\A|[\n.!?;,])[ \t]{0,4}(?:(?:and|but|so|also|btw|ok|fyi|yes),?[ \t])?(?:my|our|the|his|her|their|your)[ \t]"
    r"(?:[\w-]{1,16}[ \t])?\Z"
)
_WINDOW = 128

_KINDS = (
    _PRIVATE,
    "private key",
    *dict.fromkeys(service.kind for service in _SERVICES),
    "card number",
    "authorization",
    "cookie",
    "password",
    "passphrase",
    "PIN",
    "secret",
)
_RANK = {kind: rank for rank, kind in enumerate(_KINDS)}
# Only marks made here count: text in brackets that merely looks like one protects nothing.
_MARK = lazy(rf"\[redacted: (?:{'|'.join(re.escape(kind) for kind in _KINDS)})\]")


def _spans(text: str) -> list[_Span]:
    """Where the secrets are, without overlaps, in order."""
    seen, places = _visible(text)
    low = seen.lower()
    if len(low) != len(seen):
        # One capital grows when lowered ("İ"); positions must stay the same in both.
        low = "".join(lowered if len(lowered := char.lower()) == 1 else char for char in seen)
    spans = [*_private_blocks(seen, low), *_private_keys(seen), *_services(seen, low), *_cards(seen)]
    spans += _headers(seen, low)
    spans += _passwords(seen, low)
    spans += _credentials(seen, low)
    if not spans:
        return []
    if "[redacted: " in seen:
        spans = _outside_marks(spans, seen)
    merged = _merged(spans)
    if places is None:
        return merged
    return [span._replace(start=places[span.start], end=places[span.end - 1] + 1) for span in merged]


def _visible(text: str) -> tuple[str, list[int] | None]:
    """The text without invisible characters, and where each of its characters stood; None when nothing moved."""
    if text.isascii() or not _INVISIBLE.search(text):
        return text, None
    hidden = set(_INVISIBLE.findall(text))
    places = [place for place, char in enumerate(text) if char not in hidden]
    return "".join(text[place] for place in places), places


def _outside_marks(spans: list[_Span], text: str) -> list[_Span]:
    """What the spans hold beside marks of an earlier redaction."""
    marks = [match.span() for match in _MARK.finditer(text)]
    starts = [start for start, _ in marks]
    kept: list[_Span] = []
    for span in spans:
        if span.kind == _PRIVATE:
            kept.append(span)
            continue
        at = span.start
        for start, end in marks[max(0, bisect_left(starts, span.start) - 1) :]:
            if start >= span.end:
                break
            if end <= at:
                continue
            if start > at:
                kept.append(span._replace(start=at, end=start))
            at = end
        if at < span.end:
            kept.append(span._replace(start=at))
    return [span for span in kept if any(char.isalnum() for char in text[span.start : span.end])]


def _merged(spans: list[_Span]) -> list[_Span]:
    """Overlapping spans become one, named after the surest evidence among them."""
    merged: list[_Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        touching = last is not None and span.start == last.end and span.kind == last.kind == _PRIVATE
        if last is None or not (span.start < last.end or touching):
            merged.append(span)
            continue
        surest = min(last, span, key=lambda one: one.rank)
        merged[-1] = _Span(last.start, max(last.end, span.end), surest.kind, surest.rank)
    return merged


def _without(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces.append(text[at : span.start])
        if span.kind != _PRIVATE:
            pieces.append(f"[redacted: {span.kind}]")
        elif _joins_words(text, span):
            pieces.append(" ")
        at = span.end
    pieces.append(text[at:])
    return "".join(pieces)


def _joins_words(text: str, span: _Span) -> bool:
    """Without a space the two sides could meet and spell a new tag or token."""
    at_an_edge = span.start == 0 or span.end == len(text)
    return not at_an_edge and not text[span.start - 1].isspace() and not text[span.end].isspace()


def _span(start: int, end: int, kind: str) -> _Span:
    return _Span(start, end, kind, _RANK[kind])


def _private_blocks(text: str, low: str) -> Iterator[_Span]:
    if "private" not in low:
        return
    depth, start = 0, 0
    for tag in _PRIVATE_TAG.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield _span(start, tag.end(), _PRIVATE)
    if depth:
        yield _span(start, len(text), _PRIVATE)


def _private_keys(text: str) -> Iterator[_Span]:
    if "PRIVATE KEY" not in text:
        return
    ends = [match.span() for match in _KEY_END.finditer(text)]
    end_starts = [start for start, _ in ends]
    for begin in _KEY_BEGIN.finditer(text):
        nearest = bisect_left(end_starts, begin.end())
        body = _KEY_BODY.match(text, begin.end())
        stop = body.end() if body else begin.end()
        # An end that is further away than any key is long belongs to something else.
        if nearest < len(ends) and ends[nearest][0] - begin.end() <= _LONGEST_KEY:
            stop = max(stop, ends[nearest][1])
        yield _span(begin.start(), stop, "private key")


_LONGEST_KEY = 20_000


# No service's token is shorter, and a link's password stands behind its "://".
_LONG_WORD = lazy(r"\S{14}")


def _services(text: str, low: str) -> Iterator[_Span]:
    if "://" not in low and not _LONG_WORD.search(low):
        return
    for kind, hints, pattern, check in _SERVICES:
        for hint in hints:
            if hint in low:
                break
        else:
            continue
        group = 1 if pattern.groups else 0
        for match in pattern.finditer(text):
            if check is None or check(match[group]):
                yield _span(*match.span(group), kind)


def _cards(text: str) -> Iterator[_Span]:
    if not _EIGHT_DIGITS.search(text):
        return
    for match in _CARD.finditer(text):
        if _passes_luhn(match[1]):
            yield _span(*match.span(1), "card number")


def _headers(text: str, low: str) -> Iterator[_Span]:
    if "authorization" in low:
        yield from _judged(_AUTHORIZATION, text, low, _authorization)
    if "bearer" in low:
        yield from _judged(_BEARER, text, low, _bearer)
    if "cookie" in low:
        done = 0
        for match in _COOKIE.finditer(low):
            if match.end() > done and (cookies := _COOKIE_VALUE.match(text, match.end())):
                done = cookies.end()
                yield _span(*cookies.span(), "cookie")


def _passwords(text: str, low: str) -> Iterator[_Span]:
    for hint, pattern in _IN_ASCII:
        if hint in low:
            yield from _judged(pattern, text, low, _password)
    if "pass" in low:
        for hint, pattern in _OF_PASS:
            if hint in low:
                yield from _judged(pattern, text, low, _password)
    if not low.isascii():
        for hint, pattern in _BEYOND_ASCII:
            if hint in low:
                yield from _judged(pattern, text, low, _password)
    if any(hint in low for hint in _PHRASE_HINTS):
        yield from _judged(_AFTER_PHRASE, text, low, _phrase)
    if any(hint in low for hint in _PAIR_HINTS) and ("/" in low or "|" in low or ":" in low):
        yield from _judged(_PAIR, text, low, _pair)
    if any(hint in low for hint in _PIN_HINTS) and _THREE_DIGITS.search(low):
        for match in _PIN.finditer(low):
            yield _span(*match.span(1), "PIN")
    if ("pass" in low or " pin" in low or "contrase" in low) and _DIGIT.search(low):
        for match in _BEFORE_PASSWORD.finditer(low):
            last = _LAST_WORD.search(text, max(0, match.start() - 64), match.start())
            if last and any(char.isdigit() for char in last[1]) and not _MASKED.fullmatch(last[1]):
                yield _span(*last.span(1), "password")
    if "</" in low:
        for match in _XML_SECRET.finditer(low):
            value_text = text[match.start(1) : match.end(1)]
            if not _is_blank(value_text) and value_text.strip().lower() not in _PROSE:
                yield _span(*match.span(1), "password" if "pass" in match[0] or "pwd" in match[0] else "secret")


def _credentials(text: str, low: str) -> Iterator[_Span]:
    if any(hint in low for hint in _CREDENTIAL_HINTS):
        yield from _judged(_CREDENTIAL, text, low, _credential)
        yield from _judged(_FLAG, text, low, _flag)


class _Value(NamedTuple):
    start: int
    end: int
    text: str
    quoted: bool


_Judge = Callable[[str, str, re.Match[str], _Value], _Span | None]


def _value(text: str, at: int, *, said: bool = False) -> _Value | None:
    """The value that begins at `at`: a quoted string, or everything up to white space or the next pair."""
    opening = _OPENING.match(text, at)
    if opening:
        pattern = _ESCAPED_QUOTED if opening[1] else _QUOTED[opening[2]]
        if (inside := pattern.match(text, opening.end())) and not inside[1][0].isspace():
            end = inside.end(1)
            # A shell joins what touches (`'foo'bar`), and SQL doubles a quote within quotes (`'it''s'`).
            if _GLUED.match(text, inside.end()) and (rest := _UNQUOTED.match(text, inside.end() + 1)):
                end = rest.end()
            return _Value(inside.start(1), end, text[inside.start(1) : end], quoted=True)
        at = opening.end()
    word = _UNQUOTED.match(text, at)
    if word is None:
        return None
    found = word[0]
    # Closing brackets belong to the sentence, unless the value opened them: then it is a mark, a list or a template.
    if not found.startswith(("[", "(", "{", "$")):
        found = found.rstrip(".,;:)]}\\!?" if said else ".,;:)]}\\")
    return _Value(at, at + len(found), found, quoted=False) if found else None


def _judged(pattern: re.Pattern[str], text: str, low: str, judge: _Judge) -> Iterator[_Span]:
    """The values that follow the names which `pattern` finds, as far as `judge` takes them for secrets.

    Names within one value are looked at a few times only: what goes on like `key=key=key=…` is taken out unread, for
    otherwise every name would read the same long value again.
    """
    done, looked_at, looks = 0, 0, 0
    for match in pattern.finditer(low):
        if match.end() <= done:
            continue
        groups = match.groupdict()
        value = _value(text, match.end(), said=bool(groups.get("said") or groups.get("owned")))
        if value is None:
            continue
        looks = looks + 1 if match.end() <= looked_at else 0
        looked_at = max(looked_at, value.end)
        span = judge(text, low, match, value)
        if span is None and looks >= _LOOKS:
            span = _span(value.start, value.end, "secret")
        if span is not None:
            done = span.end
            yield span


_LOOKS = 4


def _authorization(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    if _is_blank(value.text) or not (match["scheme"] or _looks_secret(value.text)):
        return None
    return _span(value.start, value.end, "authorization")


def _bearer(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    return _span(value.start, value.end, "authorization") if _looks_secret(value.text) else None


def _password(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    groups = match.groupdict()
    if groups.get("loose") and not _has_signs(value):
        return None
    if groups.get("owned") and not _has_signs(value) and not _is_all_that_is_said(text, low, match, value):
        return None
    if groups.get("below") and not _stands_alone(text, low, match, value):
        return None
    end = _end_of_its_words(text, value)
    if not _may_be_a_password(value, groups.get("assigned") or "", text.count(" ", value.end, end)):
        return None
    return _span(value.start, end, "password")


def _pair(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    # `host:8080` and `team/name/file` are no logins.
    if not _has_signs(value) or (match["tight"] and (value.text.isdigit() or "/" in value.text or ":" in value.text)):
        return None
    return _span(value.start, value.end, "password")


def _has_signs(value: _Value) -> bool:
    """Whether a value that is only likely to be a password shows it: in quotes, or with digits or signs in it."""
    word = value.text.strip("*_.,;:!?")
    if _is_blank(value.text) or word.lower() in _PROSE or _KNOWN_SIGNS.fullmatch(word.lower()):
        return False
    if value.quoted or word.isdigit():
        return len(word) >= 4
    if any(char.isdigit() for char in word):
        return len(word) >= 4 and any(char.isalpha() for char in word)
    return len(word) >= 6 and any(char in "!@#$%^&+=~" for char in word)


def _is_all_that_is_said(text: str, low: str, match: re.Match[str], value: _Value) -> bool:
    """ "My password's swordfish." is a whole sentence; "the password's expiry" is a part of one."""
    before = low[max(0, match.start() - _WINDOW) : match.start()]
    return bool(_A_SUBJECT.search(before) and _END_OF_SENTENCE.match(text, value.end))


def _stands_alone(text: str, low: str, match: re.Match[str], value: _Value) -> bool:
    """Whether a line says "password" and little else, and the value has the next line for itself."""
    says_that_it_follows = match["below"].strip(" \t\r\n:：*_") != ""
    before = low[max(0, match.start() - _WINDOW) : match.start()]
    if "=" in value.text or ":" in value.text or not _A_FEW_WORDS.search(before):
        return False
    return bool(_END_OF_LINE.match(text, value.end)) and (says_that_it_follows or _has_signs(value))


def _phrase(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    """A passphrase may have spaces in it: it lasts to the end of its sentence."""
    if _is_blank(value.text) or value.text.lower().strip(",.;:") in _PROSE:
        return None
    clause = None if value.quoted else _CLAUSE.match(text, value.start)
    return _span(value.start, max(clause.end() if clause else 0, value.end), "passphrase")


def _credential(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    name = match[0]
    before = low[max(0, match.start() - 16) : match.start()]
    strong = name.startswith("secret") or bool(_STRONG_BEFORE.search(before))
    # "monkey" and "turkey" are no keys, and some keys open nothing.
    if name.startswith("key") and not strong and (before[-1:].isalpha() or _HARMLESS_BEFORE.search(before)):
        return None
    if (name.startswith("token") and _HARMLESS_BEFORE.search(before)) or _is_blank(value.text):
        return None
    span = _span(value.start, value.end, "secret")
    if _is_random(value.text, digests=strong or not name.startswith(("key", "auth", "signature", "session"))):
        return span
    if name.startswith("tokens") or not (strong or name.startswith(("token", "credential", "creds"))):
        return None
    if match["said"] is not None:
        return span if _is_a_short_key(value.text) else None
    if match["assigned"] is None or _crosses_a_line(match["assigned"], value):
        return None
    return span if _looks_secret(value.text, quoted=value.quoted and strong) else None


def _flag(text: str, low: str, match: re.Match[str], value: _Value) -> _Span | None:
    if value.text.startswith("-") or not _looks_secret(value.text):
        return None
    return _span(value.start, value.end, "secret")


def _crosses_a_line(assigned: str, value: _Value) -> bool:
    """On the line below `password:` there may stand the next name instead of a value."""
    return "\n" in assigned and not value.quoted and ("=" in value.text or ":" in value.text)


def _is_blank(value: str) -> bool:
    """True for what stands where a secret would: masks, variables, code, paths, links, names of secrets."""
    value = value[:512]
    return bool(
        _MASKED.fullmatch(value)
        or _CODE.fullmatch(value)
        or _NAMES_A_CREDENTIAL.fullmatch(value)
        or _PATH.fullmatch(value)
        or _FILE.fullmatch(value)
        or "://" in value[:12]
    )


def _may_be_a_password(value: _Value, assigned: str, more_words: int) -> bool:
    word = value.text
    plain = word.lower().strip("*_.,;:!?")
    if (
        not plain
        or (plain in _PROSE and more_words < 3)
        or (_is_blank(word) and not (value.quoted and _CODE.fullmatch(word)))
    ):
        return False
    if _crosses_a_line(assigned, value) or (assigned.isspace() and word.startswith("-")):
        return False
    if word.isdigit():
        return len(word) >= 4
    if not value.quoted and not assigned and _ADJECTIVE.fullmatch(plain):
        return False
    return value.quoted or len(word) >= 3


def _end_of_its_words(text: str, value: _Value) -> int:
    """The end of a password that is several plain words, as in "password: correct horse battery staple"."""
    if value.quoted or not value.text.isalpha() or not value.text.islower():
        return value.end
    more = _PLAIN_WORDS.match(text, value.end)
    if more is None or any(word in _PROSE for word in more[0].split()):
        return value.end
    return more.end()


def _looks_secret(value: str, *, quoted: bool = False) -> bool:
    """Whether a value could be a credential where one is expected."""
    if len(value) < 6 or _is_blank(value) or value.lower() in _PROSE or _IDENTIFIER.fullmatch(value):
        return False
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if not letters:
        return False
    if digits:
        return digits >= 2 or len(value) >= 8
    mixed = value != value.lower() and value != value.upper() and value[1:] != value[1:].lower()
    return (mixed and len(value) >= 16) or (quoted and len(value) >= 8 and not _ADJECTIVE.fullmatch(value))


def _is_a_short_key(value: str) -> bool:
    """Whether "the token is …" tells one that is too short to look random."""
    if not _SHORT_KEY.fullmatch(value) or _KNOWN_SIGNS.fullmatch(value.lower()) or not _looks_secret(value):
        return False
    digits = sum(char.isdigit() for char in value)
    if digits < 2 or len(_TRANSITION.findall(value)) >= 2:
        return digits >= 2
    return bool(_IS_DIGEST.fullmatch(value)) or (digits >= 3 and value.isalnum())


def _is_random(value: str, *, digests: bool = False) -> bool:
    """Whether a value has the looks of chance: long, and letters and digits without the rhythm of words.

    Digests and UUIDs are by chance too; they count only where `digests` says that a credential may be one.
    """
    candidate = _CANDIDATE.match(value)
    if candidate is None or candidate.end() < len(value) * 0.9:
        return False
    value = candidate[0]
    if (
        _DIGEST_NAME.fullmatch(value)
        or _PATH.fullmatch(value)
        or _FILE.fullmatch(value)
        or _IDENTIFIER.fullmatch(value)
    ):
        return False
    if _IS_UUID.fullmatch(value) or _IS_DIGEST.fullmatch(value):
        return digests
    if value.replace(".", "").replace("-", "").replace("/", "").isdigit():
        return False
    changes = len(_TRANSITION.findall(value))
    if changes >= max(4, len(value) // 16):
        return True
    rest = _WORDY.sub("", value)
    return any(char.isdigit() for char in value) and value != value.lower() and len(rest) >= len(value) * 0.5
