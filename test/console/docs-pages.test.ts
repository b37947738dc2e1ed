import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import MiniSearch from 'minisearch'
import { describe, expect, test } from 'vitest'
import { readContents, routeOf } from '../../console/docs/contents.ts'
import { llmsTxt, readDocuments } from '../../console/docs/documents.ts'
import { render } from '../../console/docs/markdown.ts'
import { searchIndex } from '../../console/docs/search-index.ts'
import { indexOptions } from '../../console/docs/search-options.ts'

const docs = resolve(import.meta.dirname, '../../docs')
const documents = readDocuments(docs)
const { pages } = documents

describe('the documents as pages', () => {
  test('each is in the contents exactly once', () => {
    expect(readContents(docs).faults).toEqual([])
    expect(pages.map(({ path }) => path).sort()).toEqual(globSync('**/*.md', { cwd: docs }).sort())
  })

  test('every link and every anchor leads somewhere', () => {
    expect(documents.faults).toEqual([])
    for (const { html, path } of pages) {
      for (const [, href = ''] of html.matchAll(/ href="([^"]*)"/g)) {
        expect(href, `a link of ${path}`).toMatch(/^(https?:|mailto:|#|\/docs(\/|#|$))/)
        expect(href, `a link of ${path}`).not.toMatch(/^\/docs.*\.md/)
      }
    }
  })

  test('titles are there, and routes are each of one page', () => {
    for (const { title, path } of pages) expect(title, path).not.toBe('')
    // Two pages may have one title in different parts, such as a tutorial and a reference.
    const named = pages.map(({ group, title }) => `${group}: ${title}`)
    expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([])
    expect(new Set(pages.map(({ route }) => route)).size).toBe(pages.length)
  })

  test('have no style attribute and no script, which the policy of the pages forbids', () => {
    for (const { html, path } of pages) {
      const tags = [...html.matchAll(/<[a-z][^>]*>/g)].map(([tag]) => tag)
      expect(
        tags.filter((tag) => /\sstyle=|\son\w+=|^<(script|iframe|style)/.test(tag)),
        path,
      ).toEqual([])
    }
  })

  test('every picture is a file with a hash in its name, and has its size', () => {
    const shown = pages.flatMap(({ html }) => [...html.matchAll(/<img[^>]*>/g)].map(([tag]) => tag))
    expect(shown.length).toBeGreaterThan(0)
    const names = documents.pictures.map(({ fileName }) => `src="/${fileName}"`)
    for (const tag of shown) {
      expect(names.some((name) => tag.includes(name))).toBe(true)
      expect(tag).toMatch(/ width="\d+" height="\d+"/)
    }
  })

  test('llms.txt names each page, by a file that the build writes', () => {
    const named = [...llmsTxt(documents).matchAll(/\]\(\/docs\/([^)]+)\)/g)].map(([, path]) => path)
    expect(named).toEqual(pages.map(({ path }) => path))
    for (const { markdown, path } of pages) expect(markdown).toBe(readFileSync(join(docs, path), 'utf8'))
  })
})

describe('the search', () => {
  const index = MiniSearch.loadJSON(searchIndex(pages), indexOptions)
  const find = (words: string) => index.search(words).map(({ id }) => String(id))

  test.each([
    ['SECRET_KEY', '/docs/reference/secrets'],
    ['idempotency', '/docs/reference/endpoints'],
    ['Idempotency-Key', '/docs/reference/endpoints'],
    // The beginning of a word, and a slip of the finger.
    ['idempot', '/docs/reference/endpoints'],
    ['idempotancy', '/docs/reference/endpoints'],
    ['insufficient_credit', '/docs/reference/errors'],
    // The documents say `month`.
    ['monthly budget', '/docs/reference/limits'],
    ['Monthly budgets', '/docs/reference/limits'],
  ])('finds %s', (words, route) => {
    expect(
      find(words)
        .slice(0, 10)
        .some((id) => id.startsWith(route)),
    ).toBe(true)
  })

  test('leads to headings that the pages have', () => {
    for (const id of find('key')) {
      const [route = '', anchor] = id.split('#')
      const page = pages.find((one) => one.route === route)
      expect(page, id).toBeDefined()
      if (anchor !== undefined) expect(page?.html).toContain(`id="${anchor}"`)
    }
  })
})

const alone = { link: (href: string) => ({ href }), image: (src: string) => ({ href: src }) }
const html = (...lines: string[]) => render(['# Title', '', ...lines].join('\n'), alone).html

describe('Markdown', () => {
  test('tags in the text are text', () => {
    const made = html('<script>alert(1)</script> and <b onclick="x()">b</b>', '', '<div>', '', 'text')
    expect(made).not.toMatch(/<(script|b|div)[ >]/)
    expect(made).toContain('&lt;script&gt;')
  })

  test('a link to a script is not a link', () => {
    expect(html('[go](javascript:alert(1))')).not.toContain('<a')
  })

  test('comments are left out', () => {
    const made = html('before', '', '<!-- not run: needs a vendor -->', '', '```sh', 'ls', '```')
    expect(made).not.toMatch(/not run|--/)
  })

  test('what only a checkout needs is left out, and names of the demo are those of the gateway', () => {
    const start = '```sh\nnpm ci && npm start\n```'
    const made = html('<!-- only in a checkout -->', '', start, '', '<!-- end -->', '', 'Ask `demo-chat`.')
    expect(made).not.toContain('npm')
    expect(made).toContain('You need a key of this gateway')
    expect(made).toContain('__GATEWAY__/v1')
    expect(made).toContain('Ask <code>__MODEL__</code>.')
    const about = html('a', '', '<!-- only in a checkout -->', '', 'The demo', '', '<!-- end -->', '', 'b')
    expect(about).not.toMatch(/The demo|You need a key/)
    // Who starts a gateway of their own calls that one.
    expect(html(start, '', 'Ask `demo-chat`.')).toContain('Ask <code>demo-chat</code>.')
  })

  test('headings have the anchors that GitHub gives them', () => {
    const made = html('## `gateway.yaml`, in force', '## Twice', '## Twice')
    expect([...made.matchAll(/<h2 id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'gatewayyaml-in-force',
      'twice',
      'twice-1',
    ])
  })

  test('copying takes the commands alone', () => {
    const made = html('```console', '$ echo one \\', '>   two', 'one two', '$ ls', 'file', '```')
    expect(made).toContain('data-text="echo one \\\n  two\nls"')
    expect(made).toContain('<span class="prompt">$ </span>')
    expect(html('```text', 'HTTP/1.1 200 OK', '```')).not.toContain('class="copy"')
  })

  test('programs that follow each other are tabs; a command and its answer are not', () => {
    const tabs = html('```ts', 'a', '```', '', '```python', 'b', '```')
    expect([...tabs.matchAll(/role="tab"[^>]*>([^<]*)</g)].map(([, label]) => label)).toEqual([
      'TypeScript',
      'Python',
    ])
    const named = html('```python OpenAI SDK', 'a', '```', '', '```python LangChain', 'b', '```')
    expect(named).toContain('data-choice="LangChain"')
    expect(html('```sh', 'curl', '```', '', '```json', '{}', '```')).not.toContain('role="tab"')
    expect(html('```sh', 'a', '```', '', '```sh', 'b', '```')).not.toContain('role="tab"')
  })

  test('a table scrolls by itself and says what it is', () => {
    const made = html('## Kinds', '', '| a | b |', '| - | -: |', '| 1 | 2 |')
    expect(made).toContain('<div class="table" role="region" tabindex="0" aria-label="Table: Kinds">')
    expect(made).toContain('<td class="right" data-head="b">2</td>')
  })
})

test('routes', () => {
  expect(routeOf('README.md')).toBe('/docs')
  expect(routeOf('reference/README.md')).toBe('/docs/reference')
  expect(routeOf('tutorials/images.md')).toBe('/docs/tutorials/images')
})
