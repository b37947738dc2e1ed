import MarkdownIt, { type StateBlock, type Token } from 'markdown-it'
import anchor from 'markdown-it-anchor'
import { escapeHtml, type Fence, fenceOf } from './code.ts'
import { codeHtml } from './code-html.ts'
import { slugOf } from './slug.ts'

export interface Heading {
  level: number
  id: string
  text: string
}

/** A heading of the first three levels, and the text below it, up to the next one. */
export interface Part {
  id: string
  heading: string
  text: string
}

export interface Rendered {
  title: string
  /** The first paragraph, as plain text. */
  lead: string
  html: string
  headings: Heading[]
  parts: Part[]
}

/** Where a link or a picture leads. */
export interface Target {
  href: string
  /** Nothing that the pages have: the words stay, without a link. */
  isNowhere?: boolean
  width?: number
  height?: number
}

/** What the document does not know of the others. */
export interface Around {
  link(href: string): Target
  image(src: string): Target
}

/** Code of more characters may break. */
const longCode = 28

/**
 * HTML of one document, as a gateway serves it: what only a checkout needs is left out, and a page for those
 * who call a gateway has the placeholders that `fill.ts` fills in. Tags in its text are text; comments are
 * left out.
 */
export function render(written: string, around: Around): Rendered {
  const markdown = written.replace(inCheckout, (_, part) => (/npm (start|ci)/.test(part) ? withKey : ''))
  const headings: Heading[] = []
  const md = new MarkdownIt({ html: false, linkify: false, typographer: false })
  md.use(anchor, {
    level: [2, 3, 4],
    slugify: slugOf,
    permalink: anchor.permalink.linkInsideHeader({
      symbol: '#',
      class: 'anchor',
      ariaHidden: true,
      renderAttrs: () => ({ tabindex: -1 }),
    }),
  })
  md.block.ruler.before('paragraph', 'comment', comment, { alt: ['paragraph', 'list'] })
  md.core.ruler.push('targets', (state) => {
    for (const token of state.tokens) if (token.children !== null) retarget(token.children, around)
  })
  md.core.ruler.push('fences', (state) => {
    state.tokens = joinFences(state.tokens)
  })
  md.renderer.rules.fence = (tokens, index) => codeHtml(fencesOf(tokens[index]), `code-${index}`)
  md.renderer.rules.code_block = (tokens, index) =>
    codeHtml([fenceOf('text', tokens[index]?.content ?? '')], `code-${index}`)
  md.renderer.rules.code_inline = (tokens, index) => {
    const text = tokens[index]?.content ?? ''
    // A column of a table must not be as wide as the longest of its values.
    return `<code${text.length > longCode ? ' class="long"' : ''}>${escapeHtml(text)}</code>`
  }
  let isCorner = false
  let heads: string[] = []
  let column = 0
  md.renderer.rules.tr_open = () => {
    column = 0
    return '<tr>'
  }
  for (const kind of ['td_open', 'th_open'] as const) {
    // Alignment comes as a style attribute, which the pages' policy forbids.
    md.renderer.rules[kind] = (tokens, index) => {
      const style = String(tokens[index]?.attrGet('style') ?? '')
      // A corner without words is no head of a column.
      const isEmpty = kind === 'th_open' && tokens[index + 1]?.content === ''
      isCorner = isEmpty
      if (kind === 'th_open') heads.push(plain(tokens[index + 1]))
      if (isEmpty) return '<td>'
      const about = kind === 'th_open' ? 'scope="col"' : `data-head="${escapeHtml(heads[column++] ?? '')}"`
      return `<${kind.slice(0, 2)}${/right/.test(style) ? ' class="right"' : ''} ${about}>`
    }
  }
  md.renderer.rules.th_close = () => (isCorner ? '</td>' : '</th>')
  let heading = ''
  md.renderer.rules.table_open = () => {
    heads = []
    return `<div class="table" role="region" tabindex="0" aria-label="Table: ${escapeHtml(heading)}"><table>`
  }
  md.renderer.rules.table_close = () => '</table></div>\n'
  md.renderer.rules.heading_open = (tokens, index, options, _env, self) => {
    heading = plain(tokens[index + 1])
    return self.renderToken(tokens, index, options)
  }

  const tokens = md.parse(markdown, {})
  const parts = partsOf(tokens)
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const level = Number(token.tag.slice(1))
    const id = String(token.attrGet('id') ?? '')
    if (level === 2 || level === 3) headings.push({ level, id, text: plain(tokens[index + 1]) })
  }
  const title = parts[0]?.heading ?? ''
  const paragraph = tokens.findIndex(({ type }) => type === 'paragraph_open')
  const lead = plain(tokens[paragraph + 1])
  const html = md.renderer.render(tokens, md.options, {})
  return { title, lead, html: markdown === written ? html : withPlaceholders(html), headings, parts }
}

/** Between two comments stands what a reader of a running gateway does not need, such as how to start one. */
const inCheckout = /^<!-- only in a checkout -->$([\s\S]*?)^<!-- end -->$/gm

const withKey = `You need a key of this gateway: ask those who run it. The base URL is \`http://127.0.0.1:8787/v1\`, or
\`http://127.0.0.1:8787\` for clients that add \`/v1\` themselves. Set the key in your shell:`

/** What the documents say of a first start, and what stands for it until a gateway is known. */
function withPlaceholders(html: string): string {
  return html
    .replaceAll('http://127.0.0.1:8787', '__GATEWAY__')
    .replaceAll('demo-chat', '__MODEL__')
    .replaceAll('demo-image', '__IMAGE_MODEL__')
    .replaceAll('text-embedding-3-small', '__EMBEDDING_MODEL__')
    .replaceAll('This is the demo channel of Tollgate; no model is behind it. ', '')
    .replace(/You said: \\?&#34;Hello\\?&#34;/g, 'Hello! How can I help you?')
}

/** A comment says something to those who write or test the documents. */
function comment(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const lineText = (line: number) =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
  if (!lineText(startLine).startsWith('<!--')) return false
  let line = startLine
  while (line < endLine && !lineText(line).includes('-->')) line++
  if (line >= endLine || !/-->\s*$/.test(lineText(line))) return false
  if (!silent) state.line = line + 1
  return true
}

function retarget(tokens: Token[], around: Around): void {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '')
      // A heading's link to itself.
      const target = token.attrGet('class') === 'anchor' ? { href } : around.link(href)
      if (target.isNowhere) {
        token.tag = 'span'
        token.attrs = [
          ['class', 'file'],
          ['title', target.href],
        ]
      } else {
        token.attrSet('href', target.href)
        if (/^https?:/.test(target.href)) token.attrSet('rel', 'noreferrer')
      }
      open.push(token)
    }
    if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'a'
    if (token.type === 'image') {
      const { href, width, height } = around.image(String(token.attrGet('src') ?? ''))
      token.attrSet('src', href)
      if (width !== undefined && height !== undefined) {
        token.attrSet('width', String(width))
        token.attrSet('height', String(height))
      }
      token.attrSet('loading', 'lazy')
    }
  }
}

/**
 * Blocks of code with nothing between them become one, which shows tabs when a reader wants only one of them.
 */
function joinFences(tokens: Token[]): Token[] {
  const joined: Token[] = []
  for (const token of tokens) {
    if (token.type !== 'fence') {
      joined.push(token)
      continue
    }
    const last = joined.at(-1)
    const fence = fenceOf(token.info, token.content)
    if (last?.type === 'fence') fencesOf(last).push(fence)
    else {
      token.meta = { fences: [fence] }
      joined.push(token)
    }
  }
  return joined
}

function fencesOf(token: Token | undefined): Fence[] {
  return (token?.meta?.fences ?? []) as Fence[]
}

function partsOf(tokens: readonly Token[]): Part[] {
  const parts: Part[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open' && Number(token.tag.slice(1)) <= 3) {
      parts.push({ id: String(token.attrGet('id') ?? ''), heading: plain(tokens[index + 1]), text: '' })
      continue
    }
    const part = parts.at(-1)
    if (part === undefined || tokens[index - 1]?.type === 'heading_open') continue
    const text =
      token.type === 'fence'
        ? fencesOf(token)
            .map(({ text }) => text)
            .join(' ')
        : token.type === 'inline' || token.type === 'code_block'
          ? plain(token)
          : ''
    if (text !== '') part.text += `${part.text === '' ? '' : ' '}${text}`
  }
  return parts.map((part) => ({ ...part, text: part.text.replace(/\s+/g, ' ') }))
}

/** The words that a reader sees, without a heading's link to itself. */
function plain(token: Token | undefined): string {
  if (token?.children == null) return token?.content ?? ''
  let isAnchor = false
  let text = ''
  for (const child of token.children) {
    if (child.type === 'link_open' && child.attrGet('class') === 'anchor') isAnchor = true
    else if (child.type === 'link_close') isAnchor = false
    else if (!isAnchor) {
      text += child.type === 'softbreak' || child.type === 'hardbreak' ? ' ' : child.content
    }
  }
  return text.trim()
}
