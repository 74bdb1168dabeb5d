// A summary of each result of a search is fetched, which browsers refuse to pages of a disk.
"use strict";
if (location.protocol !== "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = true;
