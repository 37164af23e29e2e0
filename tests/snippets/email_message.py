from email.message import EmailMessage
import email.policy
import mimetypes

message = EmailMessage()
message["Subject"] = "Report für May"
message["From"], message["To"] = "a@example.org", "b@example.org"
message.set_content("See the attachment.")
message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="data.csv")
text = message.as_bytes()
back = email.message_from_bytes(text, policy=email.policy.default)
print(back["Subject"], back.get_content_type(), [part.get_filename() for part in back.iter_attachments()])
print(back.get_body().get_content().strip(), mimetypes.guess_type("x.png")[0])
import smtplib
try:
    with smtplib.SMTP_SSL("smtp.example.org", 465) as server:
        server.send_message(message)
except OSError as e:
    print("not sent:", "no network" in str(e))
