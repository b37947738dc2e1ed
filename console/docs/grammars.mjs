// Plain JavaScript: the types of highlight.js bring those of a browser with them, into all that Node runs.
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import yaml from 'highlight.js/lib/languages/yaml'

/** By the word behind the fence. */
const grammars = {
  bash,
  console: bash,
  ini,
  js: typescript,
  json,
  mjs: typescript,
  py: python,
  python,
  sh: bash,
  sql,
  toml: ini,
  ts: typescript,
  typescript,
  yaml,
}
for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar)

export function highlight(text, language) {
  return language in grammars ? hljs.highlight(text, { language }).value : undefined
}
