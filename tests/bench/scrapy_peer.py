"""The peer of the crawl bench: Scrapy following every link of a site, robots.txt obeyed, nothing stored.

`python -m tests.bench.scrapy_peer URL` prints the number of pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, ClassVar

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class Follow(scrapy.Spider):  # type: ignore[misc]  # scrapy has no types
    name = "follow"
    urls: ClassVar[set[str]] = set()
    links = LinkExtractor()

    def parse(self, response: Response) -> Iterator[Any]:
        Follow.urls.add(response.url)  # the seed comes twice: Scrapy does not note start URLs as seen
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, self.parse)


def main() -> None:
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Follow, start_urls=[sys.argv[1]])
    process.start()
    print(len(Follow.urls))


if __name__ == "__main__":
    main()
