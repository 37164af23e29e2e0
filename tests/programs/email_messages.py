import email
from email.message import EmailMessage
from email.policy import default
from email.utils import formataddr, formatdate, getaddresses, parseaddr, parsedate_to_datetime
import mimetypes
import quopri

message = EmailMessage()
message["Subject"] = "Grüße"
message["From"], message["To"] = formataddr(("Änn", "ann@example.com")), "bob@example.com"
message.set_content("Hello\nwörld\n")
message.add_alternative("<p>Hello</p>", subtype="html")
message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="data.bin")
print([part.get_content_type() for part in message.walk()], message["subject"], message.get_body(("plain",)).get_content())
parsed = email.message_from_bytes(bytes(message), policy=default)
print(parsed["subject"], parsed["from"].addresses[0].display_name, [a.get_filename() for a in parsed.iter_attachments()], parsed.is_multipart())
print(bytes(message).split(b"\n")[0], parseaddr("Ann <a@b.c>"), getaddresses(["a@b, C <c@d>"]), formatdate(0), parsedate_to_datetime("Mon, 01 Jan 2024 10:00:00 +0200"))
print(mimetypes.guess_type("a.png"), mimetypes.guess_extension("text/html"), quopri.encodestring("é=".encode()), email.message_from_string("A: 1\nB: 2\n folded\n\nbody").items())
