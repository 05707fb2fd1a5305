"""Secrets that must go, words that must stay, and the laws that hold for any text.

Every secret here is made up, and put together from parts so that no scanner takes it for a real one.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.record.redaction import Redacted, redact
from tests.scaling import is_linear

MIXED = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ" + "0123456789abcdefGHIJ" + "klmnopQRSTuv4W5x6Y7z8"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" + "9a8b7c6d5e4f30213243546576879809"
UPPER = "Q7W2E9R4T6Y1U8I3" + "O5P0A2S7"
UUID = "3f2504e0-4f89-41d3-" + "9a0c-0305e82c3301"
DASHES = "-" * 5
BODY = "\n".join([MIXED[:64], MIXED[5:69], MIXED[9:40] + "=="])


def pem(label: str) -> str:
    return f"{DASHES}BEGIN {label}{DASHES}\n{BODY}\n{DASHES}END {label}{DASHES}"


# kind, the text that carries the secret, the secret itself
Case = tuple[str, str, str]


def alone(kind: str, secret: str) -> Case:
    return kind, secret, secret


TOKENS: list[Case] = [
    alone("GitHub token", "ghp_" + MIXED[:36]),
    alone("GitHub token", "gho_" + MIXED[:36]),
    alone("GitHub token", "ghs_" + MIXED[:36]),
    alone("GitHub token", "ghu_" + MIXED[:36]),
    alone("GitHub token", "ghr_" + MIXED[:36]),
    alone("GitHub token", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    alone("GitLab token", "gl" + "pat-" + MIXED[:20]),
    alone("Slack token", "xox" + "b-123456789012-123456789012-" + MIXED[:24]),
    alone("Slack token", "xox" + "p-123456789012-" + MIXED[:24]),
    alone("Slack token", "xapp" + "-1-A012-345-" + HEX[:32]),
    ("Slack webhook", "https://hooks.slack" + ".com/services/T01/B02/" + MIXED[:24], MIXED[:24]),
    alone("Stripe key", "sk" + "_live_" + MIXED[:24]),
    alone("Stripe key", "rk" + "_live_" + MIXED[:24]),
    alone("Stripe key", "whsec" + "_" + MIXED[:32]),
    alone("OpenAI key", "sk-" + MIXED[:48]),
    alone("OpenAI key", "sk-" + "proj-" + MIXED[:40] + "-_" + MIXED[:40]),
    alone("OpenRouter key", "sk-" + "or-v1-" + HEX),
    alone("Anthropic key", "sk-" + "ant-api03-" + MIXED + "-AA"),
    alone("Google key", "AI" + "za" + MIXED[:35]),
    alone("Google token", "ya" + "29." + MIXED[:60]),
    alone("Google token", "GOC" + "SPX-" + MIXED[:28]),
    alone("AWS access key", "AKI" + "A" + UPPER[:16]),
    alone("AWS access key", "ASI" + "A" + UPPER[:16]),
    ("AWS secret key", "AKI" + "A" + UPPER[:16] + " / " + MIXED[:38] + "+/", MIXED[:38] + "+/"),
    ("Azure key", "AccountName=x;Account" + "Key=" + MIXED[:64] + "==", MIXED[:64]),
    ("Azure signature", "https://x.blob.example/c?sv=2022&sig" + "=" + MIXED[:40] + "%3D", MIXED[:40]),
    alone("npm token", "npm" + "_" + MIXED[:36]),
    alone("PyPI token", "pypi" + "-AgEIcHlwaS5vcmc" + MIXED),
    alone("Telegram token", "123456789" + ":AA" + MIXED[:33]),
    alone("Telegram token", "12345678" + ":" + MIXED[:35]),
    alone("Discord token", "M" + MIXED[:23] + "." + MIXED[3:9] + "." + MIXED[:38]),
    ("Discord webhook", "https://discord.com/api/web" + "hooks/123456789/" + MIXED[:60], MIXED[:60]),
    alone("SendGrid key", "SG" + "." + MIXED[:22] + "." + MIXED[:43]),
    alone("Twilio key", "SK" + HEX[:32]),
    alone("Mailgun key", "key" + "-" + HEX[:32]),
    alone("Mailchimp key", HEX[:32] + "-us12"),
    alone("Hugging Face token", "hf" + "_" + MIXED[:34]),
    alone("DigitalOcean token", "dop" + "_v1_" + HEX),
    alone("Shopify token", "shp" + "at_" + HEX[:32]),
    alone("Square token", "sq0" + "csp-" + MIXED[:43]),
    ("Heroku key", "HEROKU_API_KEY=" + UUID, UUID),
    ("Heroku key", "my heroku token is " + UUID, UUID),
    alone("Databricks token", "dapi" + HEX[:32]),
    alone("Linear key", "lin" + "_api_" + MIXED[:40]),
    alone("Notion token", "ntn" + "_" + MIXED[:46]),
    alone("Vault token", "hvs" + "." + MIXED[:60]),
    alone("age key", "AGE-SECRET" + "-KEY-1" + (UPPER * 3)[:58]),
    alone("JSON web token", "ey" + "J" + MIXED[:20] + ".ey" + "J" + MIXED[:40] + "." + MIXED[:43]),
    alone("1Password token", "ops" + "_ey" + "J" + MIXED * 3),
    alone("Doppler token", "dp" + ".pt." + MIXED[:43]),
    alone("Atlassian token", "ATA" + "TT3" + MIXED * 2),
    alone("Grafana token", "glsa" + "_" + MIXED[:32] + "_" + HEX[:8]),
    alone("Groq key", "gsk" + "_" + MIXED[:52]),
    alone("Docker token", "dckr" + "_pat_" + MIXED[:27]),
    alone("Supabase key", "sbp" + "_" + HEX[:40]),
    alone("Tailscale key", "tskey" + "-auth-" + MIXED[:20]),
    ("URL password", "postgres://bob:" + "hunter2" + "@db.example.com/x", "hunter2"),
    ("URL password", "https://bob:" + "p@ss" + "@example.com/", "p@ss"),
    ("URL token", "https://" + MIXED[:40] + "@git.example.com/x.git", MIXED[:40]),
    ("private key", pem("RSA PRIVATE KEY"), MIXED[5:40]),
    ("private key", pem("OPENSSH PRIVATE KEY"), MIXED[5:40]),
    ("private key", pem("PGP PRIVATE KEY BLOCK"), MIXED[5:40]),
    ("private key", f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n{BODY}", MIXED[9:40]),
    ("private key", pem("PRIVATE KEY").replace("\n", "\\n"), MIXED[5:40]),
    ("private key", f"{DASHES}BEGIN EC PRIVATE KEY{DASHES}\\n{MIXED[:64]}\\n{MIXED[:9]}", MIXED[:9]),
    ("card number", "4111 1111" + " 1111 1111", "1111 1111"),
    ("card number", "5555-5555" + "-5555-4444", "5555-4444"),
    ("card number", "37828224" + "6310005", "6310005"),
    ("card number", "1234 4111 1111" + " 1111 1111", "4111 1111"),
]

SPOKEN: list[Case] = [
    ("password", "my password is hunter2", "hunter2"),
    ("password", "My password is swordfish.", "swordfish"),
    ("password", "the password for the router is hunter2", "hunter2"),
    ("password", "the password was changed to hunter2 yesterday", "hunter2"),
    ("password", 'the password is "correct horse"', "correct horse"),
    ("password", "hunter2 is my password", "hunter2"),
    ("password", "wifi pw: blueDog7", "blueDog7"),
    ("password", "user: admin, pass: hunter2", "hunter2"),
    ("password", "password: correct horse battery staple", "staple"),
    ("password", "password: monkey", "monkey"),
    ("password", "**Password:** hunter2", "hunter2"),
    ("password", "Password:\nhunter2", "hunter2"),
    ("password", "das Passwort lautet Sommer24", "Sommer24"),
    ("password", "Mein Passwort ist Sommer24", "Sommer24"),
    ("password", "le mot de passe est soleil99", "soleil99"),
    ("password", "la contraseña es gato123", "gato123"),
    ("password", "a senha é gato123", "gato123"),
    ("password", "het wachtwoord is fiets77", "fiets77"),
    ("password", "hasło to kotek77", "kotek77"),
    ("password", "пароль: котик77", "котик77"),
    ("password", "密码是abc12345", "abc12345"),
    ("password", "パスワードは abc12345 です", "abc12345"),
    ("password", "my password's hunter2", "hunter2"),
    ("password", "my password’s hunter2, remember it", "hunter2"),
    ("password", "My wifi password's swordfish.", "swordfish"),
    ("password", "password\n\nhunter2zz", "hunter2zz"),
    ("password", "password:\n\nhunter2zz", "hunter2zz"),
    ("password", "Password\r\nhunter2zz\r\n", "hunter2zz"),
    ("password", "**Wifi password**\n\n`hunter2zz`", "hunter2zz"),
    ("password", "my password is:\n\nswordfish", "swordfish"),
    ("password", "the password for the router:\n  hunter2zz", "hunter2zz"),
    ("password", "the password for the router: hunter2", "hunter2"),
    ("password", "login: bob / hunter2", "hunter2"),
    ("password", "user: bob@example.com / hunter2", "hunter2"),
    ("password", "credentials are bob | hunter2", "hunter2"),
    ("password", "login: bob/hunter2", "hunter2"),
    ("password", "creds: bob:hunter2", "hunter2"),
    ("PIN", "the PIN is 4471", "4471"),
    ("PIN", "the PIN's 4471", "4471"),
    ("PIN", "the safe code is 4471-22", "4471-22"),
    ("PIN", "the safe's code is 4471", "4471"),
    ("PIN", "the code for the garage door is 4471", "4471"),
    ("PIN", "combination of the safe is 12-34-56", "12-34-56"),
    ("PIN", "the combination is 12-34-56", "12-34-56"),
    ("PIN", "PIN: 4471.", "4471"),
    ("PIN", "CVV 1234", "1234"),
    ("PIN", "the door code is 90210", "90210"),
    ("PIN", "verification code: 123 456", "123 456"),
    ("passphrase", "passphrase: four words here", "four words here"),
    ("passphrase", "My passphrase is copper anvil lemon tide.", "copper anvil lemon tide"),
    ("passphrase", "seed phrase: apple pear plum fig date kiwi lime nut oat pea rye yam", "yam"),
    ("secret", "the token is " + MIXED[:20], MIXED[:20]),
    ("secret", "token is 8f3a9c2b7d", "8f3a9c2b7d"),
    ("secret", "the access token is abcdef12", "abcdef12"),
    ("secret", "the api key's abc12345", "abc12345"),
    ("secret", "here is the key: " + MIXED[:24], MIXED[:24]),
    ("secret", "the api key is `" + HEX[:40] + "`", HEX[:40]),
    ("secret", "credentials " + MIXED[:24], MIXED[:24]),
]

ASSIGNED: list[Case] = [
    ("password", "password=hunter2", "hunter2"),
    ("password", "PASSWORD = 'two words'", "two words"),
    ("password", "db:\n  user: bob\n  password: hunter2\n", "hunter2"),
    ("password", '{"user": "bob", "password": "hunter2"}', "hunter2"),
    ("password", '{\\"password\\": \\"hunter2\\"}', "hunter2"),
    ("password", 'password: str = "hunter2"', "hunter2"),
    ("password", "export DB_PASSWORD=tr0ub4dor", "tr0ub4dor"),
    ("password", "set DB_PASS=abcd", "abcd"),
    ("password", "DB_PASS=foo'bar\"baz9", "'bar\"baz9"),
    ("password", "DB_PASS='foo'bar9", "bar9"),
    ("password", "ALTER USER bob PASSWORD 'it''s9'", "s9"),
    ("password", "PGPASSWORD=s3cr3t psql -h x", "s3cr3t"),
    ("password", "ENV MYSQL_PASSWORD hunter2", "hunter2"),
    ("password", "User Id=sa;Password=pa55word;Database=x", "pa55word"),
    ("password", "https://x.example/login?user=bob&password=hunter2&next=1", "hunter2"),
    ("password", "pwd: swordfish", "swordfish"),
    ("password", "<password>hunter2</password>", "hunter2"),
    ("password", "ALTER USER bob PASSWORD 'hunter2'", "hunter2"),
    ("password", "machine x login bob password hunter2", "hunter2"),
    ("password", "restic --password hunter2 --verbose", "hunter2"),
    ("password", "tool --db-password=hunter2", "hunter2"),
    ("password", "mysql -u root -phunter2 db", "hunter2"),
    ("password", "mysqldump --password=hunter2 db", "hunter2"),
    ("password", "sshpass -p hunter2 ssh x", "hunter2"),
    ("password", "curl -u bob:hunter2 https://x.example", "hunter2"),
    ("secret", '"api_key": "abc123def456ghi"', "abc123def456ghi"),
    ("secret", "API_KEY=" + UUID, UUID),
    ("secret", "client_secret: abcDEF123xyz", "abcDEF123xyz"),
    ("secret", "aws_secret_access_key = " + MIXED[:38] + "+/", MIXED[:38]),
    ("secret", "access_token=" + HEX[:40] + "&x=1", HEX[:40]),
    ("secret", "x-api-key: " + MIXED[:20], MIXED[:20]),
    ("secret", "tool --api-key k3yk3yk3y99", "k3yk3yk3y99"),
    ("secret", "secret: " + HEX, HEX),
    ("secret", "//npm.example.org/:_authToken=" + UUID, UUID),
    ("authorization", "Authorization: Bearer abcdef123456", "abcdef123456"),
    ("authorization", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("authorization", "-H 'Authorization: token " + HEX[:20] + "'", HEX[:20]),
    ("authorization", "it sends Bearer " + MIXED[:32], MIXED[:32]),
    ("cookie", "Cookie: sid=abcd1234; theme=dark", "abcd1234"),
    ("cookie", "Set-Cookie: sid=abcd1234; Path=/", "abcd1234"),
]

SECRETS = TOKENS + SPOKEN + ASSIGNED


def names(cases: list[Case]) -> list[str]:
    return [f"{kind}-{number}" for number, (kind, _, _) in enumerate(cases)]


HARMLESS = [
    "Where does Ann live now? She moved last year, I think to Oslo.",
    "the password policy asks for twelve characters",
    "token budget = 4000",
    "key: value",
    "secret santa is on Friday",
    "password: (unset)",
    'password = os.environ["DB_PASSWORD"]',
    "password = getpass.getpass()",
    "token = response.data.token",
    "token = get_token(user)",
    "token_count: 1234",
    "max_tokens=512, total_tokens: 123456",
    "API key goes in .env",
    "API key is required",
    "the password is wrong",
    "the password is in the vault",
    "password: must be at least 12 characters",
    "password: str",
    "def login(user, password=None):",
    "login(user=user, password=password)",
    "password: ${DB_PASSWORD}",
    "password: $DB_PASSWORD",
    "password: {{ vault.db }}",
    "password: <your password>",
    "password: ********",
    "password_file=/run/secrets/db",
    "use --password-stdin, not the --password flag",
    "PWD=/home/bob/project",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "token: ${GITHUB_TOKEN}",
    "postgres://user:${PW}@host/db",
    "postgres://user:<password>@host/db",
    "http://localhost:8080/path@x",
    "https://example.com/a:b@c",
    "git@github.com:owner/name.git",
    "commit " + HEX[:40],
    "sha256:" + HEX,
    "checksum " + HEX + "  model.bin",
    "cache key: " + HEX[:40],
    "key = " + UUID,
    "session " + UUID,
    UUID,
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    '"integrity": "sha512-' + MIXED + '=="',
    "public key: ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAIJl3dIeudNqd0DPMRD6OIh65tjkxFNOtGcWGb2gCAfGd",
    "/usr/local/lib/python3.11/site-packages/keyring/backends/secret_service.py",
    "version 1.18.33-beta.4, node 24.21.0",
    "passwords: 3 found",
    "pass: 5, fail: 2",
    '<input type="password" name="x" placeholder="Password:" class="wide">',
    "Forgot your password? Reset it.",
    "press any key to continue; key points: 1. one 2. two",
    "1700000000000 ms, order 1234567890123456",
    "4111 1111 1111 1112",
    "the GPIO pin is 4, exit code: 137",
    "disk-usage-analyzer-2024-report-final",
    "the limiter token_bucket_rate_limiter_v2 is fine",
    "secretName: my-tls-secret",
    "secret: my-tls-secret",
    "cookie policy",
    "Bearer authentication-mechanisms",
    "token: string;",
    "if (token === undefined) return",
    "session key agent:main:telegram:group:-100123:topic:42",
    'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
    "author: John Smith, keyboard layout = qwertz",
    "a private conversation about private keys",
    f"{DASHES}BEGIN CERTIFICATE{DASHES}",
    "my pin board, the pinned message",
    "2026-11-15T18:06:00Z 12:34:56",
    "the password's expiry is 90 days",
    "check the password's expiry.",
    "the password's SHA256 hash, the password's 12-character minimum",
    "is that the password's hash?",
    "password\n\nPlease reset it",
    "password\n\nSubmit",
    "password\noauth2\nsaml",
    "Forgot your password?\n\nbob@example.com",
    "I changed the password\n\n2026-11-15",
    "reset password:\n\nstep2: click the link",
    "the password for the API: see the vault",
    "the password in the config: v2.1.0",
    "token is invalid",
    "token is missing",
    "the token is base64url",
    "the token is RFC6750-style",
    "the session key is agent:main:telegram:123456",
    "the key's user1234",
    "the safe code path",
    "code is 200",
    "the exit code of the process is 137",
    "the combination is 3 of 4, the combination of colours is 1234",
    "login: yes / no",
    "login: bob / alice",
    "login: localhost:8080",
    "user: src/auth2",
    "users: 12 / 1500",
    "users: alice / bob2",
    "user: GET / HTTP/1.1",
    "the status code for the gate is 200",
    "'login=ok', 'user=bob'",
]


@pytest.mark.proves("B5")
@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS, ids=names(SECRETS))
def test_a_secret_is_taken_out_and_named(kind: str, text: str, secret: str) -> None:
    assert secret in text
    clean = redact(text)
    assert secret not in clean.text
    assert kind in clean.found
    assert f"[redacted: {kind}]" in clean.text


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.proves("B5")
@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS, ids=names(SECRETS))
def test_a_secret_is_taken_out_of_the_middle_of_a_log(kind: str, text: str, secret: str) -> None:
    before, after = "line one\nuser: bob\n\n", "\n\nline two: all went well\n"
    clean = redact(before + text + after)
    assert secret not in clean.text
    assert clean.text.startswith(before)
    assert clean.text.endswith(after)


@pytest.mark.proves("B5")
@pytest.mark.parametrize(("kind", "text", "secret"), TOKENS[:20], ids=names(TOKENS[:20]))
@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff"])
def test_an_invisible_character_hides_no_token(kind: str, text: str, secret: str, hidden: str) -> None:
    middle = len(text) - len(secret) // 2
    clean = redact(f"see {text[:middle]}{hidden}{text[middle:]} there{hidden}")
    assert kind in clean.found
    assert secret[len(secret) // 2 :] not in clean.text
    assert clean.text.endswith(f" there{hidden}")


def test_user_and_host_of_a_link_are_kept() -> None:
    clean = redact("postgres://bob:" + "hunter2@db.example.com:5432/x")
    assert clean.text == "postgres://bob:[redacted: URL password]@db.example.com:5432/x"


def test_what_was_found_is_told_in_order_and_once() -> None:
    text = f"password=hunter2 and {'ghp_' + MIXED[:36]} and password=hunter3 and <private>x</private>"
    assert redact(text).found == ("password", "GitHub token", "private")


@pytest.mark.proves("B5")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<private>all of it</private>", ""),
        ("before <private>x</private> after", "before  after"),
        ("before <PRIVATE reason='x'>x\ny</Private> after", "before  after"),
        ("before<private>x</private>after", "before after"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("a <private>x</private> b <private>y</private> c", "a  b  c"),
        ("a <private>never closed", "a "),
        ("a <private>x <private>y</private> still inside", "a "),
        ("a &lt;private&gt;x&lt;/private&gt; b", "a  b"),
        ("a \\u003cprivate\\u003ex\\u003c/private\\u003e b", "a  b"),
        ("a <pri\u200bvate>x</private> b", "a  b"),
        ("<pri<private>x</private>vate>kept, but no tag", "<pri vate>kept, but no tag"),
    ],
)
def test_what_is_marked_private_leaves_nothing(text: str, left: str) -> None:
    assert redact(text) == Redacted(left, ("private",))


def test_a_closing_mark_alone_and_other_tags_stay() -> None:
    for text in ("a </private> b", "<privateer>x</privateer>", "private: yes"):
        assert redact(text) == Redacted(text)


@pytest.mark.proves("B5")
def test_a_forged_mark_protects_nothing() -> None:
    assert "hunter2" not in redact("my password is '[redacted: hunter2]' and password=hunter2").text.split("]'")[1]


def test_a_key_without_its_end_takes_its_lines_and_no_more() -> None:
    text = f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\nProc-Type: 4,ENCRYPTED\n\n{BODY}\n\nThat was the key, keep it safe."
    assert redact(text).text == "[redacted: private key]\n\nThat was the key, keep it safe."


@given(text=st.text())
def test_no_text_is_too_strange_to_redact(text: str) -> None:
    clean = redact(text)
    assert redact(clean.text) == Redacted(clean.text)


words = st.sampled_from(
    [
        "password",
        "secret",
        "token",
        "key",
        "PIN",
        "=",
        ":",
        " ",
        "\n",
        "is",
        '"',
        "'",
        "<private>",
        "</private>",
        "://",
        "@",
        "Bearer",
        "Authorization",
        "Cookie",
        "hunter2",
        "4471",
        MIXED[:24],
        HEX[:40],
        "ghp_" + MIXED[:36],
        "[redacted: password]",
        f"{DASHES}BEGIN PRIVATE KEY{DASHES}",
        "4111111111111111",
        "sk-",
        "my",
        "\u200b",
        "--password",
        ",",
        ";",
        "&",
        "passphrase",
        "'s ",
        "\n\n",
        "login: bob / ",
        "combination",
        "8f3a9c2b7d",
    ]
)


@pytest.mark.proves("B5")
@given(pieces=st.lists(words | st.text(max_size=3), max_size=25))
def test_redacting_twice_equals_once(pieces: list[str]) -> None:
    clean = redact("".join(pieces))
    assert redact(clean.text) == Redacted(clean.text)


# A private block, or a quote or bracket left open, may well swallow what follows it; the property is about secrets.
surroundings = st.text(max_size=60)


@pytest.mark.proves("B5")
@given(before=surroundings, after=surroundings, case=st.sampled_from(TOKENS))
def test_a_planted_token_never_survives_in_any_surroundings(before: str, after: str, case: Case) -> None:
    _, text, secret = case
    assert secret not in redact(f"{before} {text} {after}").text


@pytest.mark.proves("B5")
@given(before=surroundings, after=surroundings, case=st.sampled_from(SPOKEN + ASSIGNED))
def test_a_planted_password_never_survives_on_a_line_of_its_own(before: str, after: str, case: Case) -> None:
    _, text, secret = case
    clean = redact(f"{before}\n{text}\n{after}").text
    assert secret not in clean.removeprefix(before).removesuffix(after)


@given(before=st.text(alphabet="abc ,.\n", max_size=40), after=st.text(alphabet="xyz ,.\n", max_size=40))
def test_what_stands_around_a_secret_is_untouched(before: str, after: str) -> None:
    token = "ghp_" + MIXED[:36]
    assert redact(f"{before} {token} {after}").text == f"{before} [redacted: GitHub token] {after}"


ENDLESS = [
    "a",
    " ",
    "\n",
    "-",
    "=",
    "/",
    "\\",
    '"',
    "<",
    "[",
    "0",
    "9",
    "e",
    "M",
    "é",
    "\u200b",
    "a.",
    "A1",
    "sk-",
    "sk-a",
    "://",
    "://a:",
    "password",
    "password=",
    'password="',
    "password is ",
    "password for a",
    "password for a: ",
    "password's ",
    "my password's a",
    "password\n",
    "password:\n\n",
    "password is:\n\na1b2",
    "password='a'b",
    "password=a'b",
    "a'b",
    "login: a / ",
    "login: a:b",
    "login: a",
    "combination ",
    "combination of the ",
    "code for the safe is 1",
    "token's ",
    "token is a1b2c3d4 ",
    "my password ",
    "passphrase: a ",
    "pass=",
    "pwd:",
    "key ",
    "key=",
    "key: a1",
    "token=aaaa-",
    "secret_",
    "secret: 'a",
    "auth",
    "bearer a1B2",
    "authorization: ",
    "cookie: a=b;",
    "pin 1",
    "pin: 1234",
    "code ",
    "<private>",
    "</private>",
    "<private",
    "ghp_",
    "eyJ.",
    "eyJaaaaaaaaa.",
    "4111 ",
    "1234 5678 ",
    "mysql -",
    "curl -u ",
    "set -x ",
    "--a-",
    "--password ",
    "heroku key ",
    "AKIA" + UPPER[:16] + " ",
    "[redacted: password]",
    f"{DASHES}BEGIN PRIVATE KEY{DASHES}",
    f"{DASHES}BEGIN PRIVATE KEY{DASHES}\nAAAAAAAAAAAAAAAAAAAA\n",
    f"{DASHES}END ",
    "key=\\n",
    "token=a&b=c&",
    "密码是a",
    "hunter2 is my password ",
    "key=" + "a" * 500 + "!",
    "Private-Lines: 3\nAAAA ",
    MIXED,
    MIXED + " ",
    "aB3" * 9 + "\n",
    "Ann moved to Oslo last year, and the token budget is a key part of the password policy. ",
]


@pytest.mark.parametrize("piece", ENDLESS, ids=lambda piece: repr(piece[:24]))
def test_the_time_is_linear_in_the_text_whatever_the_text(piece: str) -> None:
    assert is_linear(redact, piece * (20_000 // len(piece) + 1))
