"""Generates a table like ClickBench's `hits`: its 105 columns and types, with values that its queries match.

    python scripts/interop/hits.py hits.parquet --rows 10M [--published]

Every value is a function of the row number, so a table of a given size is always the same. With --published the file
has the physical types that ClickBench publishes: times as seconds, dates as days, and strings as binary.
"""

import argparse
import re

# The type of each column and, unless it is a number from 0 to 4, its value. `r(k)` is a random integer of the row;
# `few(k, n)`
# is a random integer below n, skewed towards small ones.
COLUMNS = """
WatchID bigint: 4611686018427387904 + r(1) % 4611686018427387904
JavaEnable smallint
Title varchar: title
GoodEvent smallint: 1
EventTime timestamp: time
EventDate date: time::date
CounterID integer: case when r(2) % 4 = 0 then 62 else few(3, 5000) end
ClientIP integer: (few(4, 200000) * 7919) % 2147483647 - 1073741824
RegionID integer: few(5, 5000)
UserID bigint: case when r(6) % 5000 = 0 then 435090932899640449 else person end
CounterClass smallint
OS smallint: few(7, 90)
UserAgent smallint: few(8, 80)
URL varchar: url
Referer varchar: referer
IsRefresh smallint: (r(9) % 8 = 0)::smallint
RefererCategoryID smallint: few(10, 20000)
RefererRegionID integer: few(11, 5000)
URLCategoryID smallint: few(12, 20000)
URLRegionID integer: few(13, 5000)
ResolutionWidth smallint: [0, 1024, 1280, 1366, 1600, 1920, 2560][1 + r(14) % 7]
ResolutionHeight smallint: [0, 768, 800, 1080][1 + r(15) % 4]
ResolutionDepth smallint: 24
FlashMajor smallint
FlashMinor smallint
FlashMinor2 varchar: ['', '700', '0.1'][1 + r(16) % 3]
NetMajor smallint
NetMinor smallint
UserAgentMajor smallint: few(17, 40)
UserAgentMinor varchar: ['', '0', 'D?', '15', 'é'][1 + r(18) % 5]
CookieEnable smallint: 1
JavascriptEnable smallint: 1
IsMobile smallint: (r(19) % 9 = 0)::smallint
MobilePhone smallint: case when model = '' then 0 else 1 + few(20, 80) end
MobilePhoneModel varchar: model
Params varchar: ''
IPNetworkID integer: few(21, 100000)
TraficSourceID smallint: [-1, 0, 1, 2, 3, 6][1 + few(22, 6)]
SearchEngineID smallint: case when phrase = '' then 0 else few(23, 60) end
SearchPhrase varchar: phrase
AdvEngineID smallint: case when r(24) % 30 = 0 then 1 + few(25, 60) else 0 end
IsArtifical smallint
WindowClientWidth smallint: 300 + few(26, 2000)
WindowClientHeight smallint: 200 + few(27, 1500)
ClientTimeZone smallint: (r(28) % 27 - 12) * 60
ClientEventTime timestamp: time - to_seconds(few(29, 90))
SilverlightVersion1 smallint
SilverlightVersion2 smallint
SilverlightVersion3 integer
SilverlightVersion4 smallint
PageCharset varchar: ['windows-1251', 'utf-8', ''][1 + r(30) % 3]
CodeVersion integer: few(31, 2000)
IsLink smallint: (r(32) % 5 < 2)::smallint
IsDownload smallint: (r(33) % 50 = 0)::smallint
IsNotBounce smallint
FUniqID bigint: r(34)
OriginalURL varchar: case when r(35) % 3 = 0 then url else '' end
HID integer: r(36) % 2147483647
IsOldCounter smallint: 0
IsEvent smallint: 0
IsParameter smallint: 0
DontCountHits smallint: (r(37) % 20 = 0)::smallint
WithHash smallint: 0
HitColor varchar: ['5', 'g', 'T', 'D'][1 + r(38) % 4]
LocalEventTime timestamp: time + to_seconds(r(39) % 7200)
Age smallint: [0, 16, 22, 31, 39, 55][1 + r(40) % 6]
Sex smallint: r(41) % 3
Income smallint
Interests smallint: few(42, 30000)
Robotness smallint
RemoteIP integer: (few(43, 200000) * 104729) % 2147483647
WindowName integer: r(44) % 100000 - 50000
OpenerName integer: r(45) % 100000 - 50000
HistoryLength smallint: few(46, 60)
BrowserLanguage varchar: ['ru', 'en', 'S0', 'tr'][1 + r(47) % 4]
BrowserCountry varchar: ['', 'RU', 'US', E'\\nM', 'UA'][1 + r(48) % 5]
SocialNetwork varchar: ''
SocialAction varchar: ''
HTTPError smallint: 0
SendTiming integer: few(49, 30000)
DNSTiming integer: few(50, 30000)
ConnectTiming integer: few(51, 30000)
ResponseStartTiming integer: few(52, 60000)
ResponseEndTiming integer: few(53, 60000)
FetchTiming integer: few(54, 60000)
SocialSourceNetworkID smallint
SocialSourcePage varchar: ''
ParamPrice bigint: case when r(55) % 100 = 0 then few(56, 100000) else 0 end
ParamOrderID varchar: ''
ParamCurrency varchar: ['', 'NH' || chr(28)][1 + r(57) % 2]
ParamCurrencyID smallint
OpenstatServiceName varchar: ['', 'direct.yandex.ru'][1 + few(58, 2)]
OpenstatCampaignID varchar: ''
OpenstatAdID varchar: ''
OpenstatSourceID varchar: ''
UTMSource varchar: ['', 'google', 'mail'][1 + few(59, 3)]
UTMMedium varchar: ''
UTMCampaign varchar: ''
UTMContent varchar: ''
UTMTerm varchar: ''
FromTag varchar: ''
HasGCLID smallint: 0
RefererHash bigint: case when r(60) % 3 = 0 then 3594120000172545465 else r(61) end
URLHash bigint: case when r(62) % 5 = 0 then 2868770270353813622 else few(63, 3000) * 1000003 - 1000000000 end
CLID integer: few(64, 1000)
"""

HOSTS = "['http://www.google.ru', 'https://www.example.com', 'http://yandex.ru', 'http://maps.google.com', 'https://kino.example.org', 'http://irr.ru']"

# Properties of a row from which several columns are computed.
BASE = f"""
select i,
    timestamp '2013-06-28 00:00:00' + to_seconds((r(101) % (35 * 86400))::bigint) as time,
    few(102, 1 + {{rows}} // 6) * 104729 - 4611686018427387904 as person,
    case when r(103) % 7 > 0 then '' else ['купить ', 'weather ', 'karelia 20% ', 'a_b '][1 + r(104) % 4] || few(105, 400) end as phrase,
    case when r(106) % 20 > 0 then '' else ['iPad', 'iPhone 2', 'A500', 'Nokia %'][1 + few(107, 4)] end as model,
    case when r(108) % 100 = 0 then '' else {HOSTS}[1 + few(109, 6)]
        || ['/', '/search?q=', '/page/', '/été/'][1 + r(110) % 4] || few(111, 40000) end as url,
    case when r(112) % 3 = 0 then '' when r(112) % 31 = 0 then 'about:blank' else {HOSTS}[1 + few(113, 6)]
        || ['/', '/search?q=', E'/line\\nbreak/', '/ö/', ''][1 + r(114) % 5] || few(115, 20000) end as referer,
    ['', 'Google Search ', 'Новости ', 'Продажа - ', 'google ads '][1 + r(116) % 5] || few(117, 3000) as title
from range({{rows}}) rows(i)
"""

MACROS = [
    "create or replace macro r(i, k) as (hash(i * 1000 + k) // 4)::bigint",
    "create or replace macro few(i, k, n) as (((hash(i * 1000 + k) % 1000000)::double / 1000000) ** 3 * n)::bigint % n",
]

PUBLISHED = {"timestamp": "epoch({})::bigint", "date": "date_diff('day', date '1970-01-01', {})::usmallint", "varchar": "encode({})"}


def columns(published=False):
    """The expression of each column."""
    for number, line in enumerate(COLUMNS.strip().splitlines()):
        described, _, value = line.partition(": ")
        name, logical_type = described.split(" ")
        value = f"cast({value or f'r({200 + number}) % 5'} as {logical_type})"
        if published and logical_type in PUBLISHED:
            value = PUBLISHED[logical_type].format(value)
        yield f'{value} as "{name}"'


def make_hits(database, rows, path, published=False):
    """Writes a table of the given number of rows as Parquet."""
    for macro in MACROS:
        database.execute(macro)
    question = f"select {', '.join(columns(published))} from ({BASE.format(rows=rows)})"
    question = re.sub(r"\b(r|few)\(", r"\1(i, ", question)
    database.execute(f"copy ({question}) to '{path}' (format parquet, compression zstd)")


def main():
    import duckdb

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows", default="1M", help="how many rows; k and M are thousands and millions")
    parser.add_argument("--published", action="store_true", help="as ClickBench publishes it")
    arguments = parser.parse_args()
    make_hits(duckdb.connect(), count(arguments.rows), arguments.file, arguments.published)


def count(text):
    """A number of rows such as 10M."""
    units = {"k": 1000, "M": 1_000_000}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


if __name__ == "__main__":
    main()
