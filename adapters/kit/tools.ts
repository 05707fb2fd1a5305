// Written by `make reference` from src/foreword/serve/mcp.py. Change it there.

/** What a model is told of the tools that read memory; `parameters` is a JSON Schema. */
export const TOOLS = {
  "mem-search": {
    "title": "Search memory",
    "description": "Find what earlier conversations, tools and notes held about something. Rows come best first, each with its id, date, who said it, what reading it costs in tokens, and how sure it is to answer.",
    "parameters": {
      "properties": {
        "query": {
          "description": "what you want to know, in plain words",
          "type": "string"
        },
        "limit": {
          "default": 8,
          "description": "how many rows",
          "maximum": 50,
          "minimum": 1,
          "type": "integer"
        }
      },
      "required": [
        "query"
      ],
      "type": "object"
    }
  },
  "mem-get": {
    "title": "Read memories",
    "description": "Read memories in full, by id, with their neighbours or their whole conversation where asked for.",
    "parameters": {
      "properties": {
        "ids": {
          "description": "ids such as m12, as mem-search shows them",
          "items": {
            "type": "string"
          },
          "maxItems": 50,
          "type": "array"
        },
        "around": {
          "default": 0,
          "description": "neighbours of the same conversation on each side",
          "maximum": 50,
          "minimum": 0,
          "type": "integer"
        },
        "whole_session": {
          "default": false,
          "description": "the whole conversation instead",
          "type": "boolean"
        }
      },
      "required": [
        "ids"
      ],
      "type": "object"
    }
  },
} as const;
