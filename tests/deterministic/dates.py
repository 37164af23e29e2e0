import datetime, email.utils, calendar
print(datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.date.today(), email.utils.make_msgid(domain="x"), email.utils.formatdate())
print(datetime.datetime.now().astimezone().tzinfo, calendar.timegm(datetime.datetime.now().timetuple()))
