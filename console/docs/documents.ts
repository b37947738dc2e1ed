import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { type Group, readContents, routeOf } from './contents.ts'
import { type Rendered, render, type Target } from './markdown.ts'

export interface Document extends Rendered {
  /** From docs/: `tutorials/images.md`. */
  path: string
  route: string
  group: string
  markdown: string
}

export interface Picture {
  /** With a hash of the content. */
  fileName: string
  source: Buffer
}

export interface Documents {
  groups: Group[]
  /** In the order of the contents. */
  pages: Document[]
  pictures: Picture[]
  /** Broken links, and what is wrong with the contents. */
  faults: string[]
}

/** All documents of a folder, as pages. */
export function readDocuments(docs: string): Documents {
  const { groups, faults } = readContents(docs)
  const pictures = new Map<string, Picture>()
  const linked: { from: string; to: string; id: string }[] = []
  const pages = groups.flatMap(({ title: group, pages }) => pages.map((path) => read(path, group)))
  const routes = new Map(pages.map((page) => [page.route, page]))

  function read(path: string, group: string): Document {
    const markdown = readFileSync(join(docs, path), 'utf8')
    const rendered = render(markdown, {
      link: (href) => linkFrom(path, href),
      image: (src) => pictureFrom(path, src),
    })
    return { ...rendered, path, route: routeOf(path), group, markdown }
  }

  function linkFrom(path: string, href: string): Target {
    if (/^[a-z]+:/i.test(href)) return { href }
    const [to = '', id = ''] = href.split('#')
    const target = to === '' ? path : join(dirname(path), to)
    if (target.startsWith('..') || !isPage(target)) {
      // A file of the repository that is no document: its path stays, as words.
      const file = relative('..', target)
      if (!existsSync(join(docs, target))) faults.push(`${path} links to ${href}, which is not there`)
      return { href: file, isNowhere: true }
    }
    const route = target.endsWith('.md') ? routeOf(target) : folderRoute(target)
    linked.push({ from: path, to: route, id: decodeURIComponent(id) })
    return { href: id === '' ? route : `${to === '' ? '' : route}#${id}` }
  }

  function isPage(target: string): boolean {
    return target.endsWith('.md') || groups.some(({ pages }) => pages.some((page) => isIn(target, page)))
  }

  /** A folder without a page of its own: the first page in it. */
  function folderRoute(folder: string): string {
    const paths = groups.flatMap(({ pages }) => pages)
    const own = join(folder, 'README.md')
    const first = paths.includes(own) ? own : paths.find((path) => isIn(folder, path))
    return routeOf(first ?? own)
  }

  function pictureFrom(path: string, src: string): Target {
    const from = join(docs, dirname(path), src)
    if (/^[a-z]+:/i.test(src) || !existsSync(from)) {
      faults.push(`${path} shows ${src}, which is not there`)
      return { href: src }
    }
    const source = readFileSync(from)
    const hash = createHash('sha256').update(source).digest('hex').slice(0, 8)
    const name = src.slice(src.lastIndexOf('/') + 1, -extname(src).length)
    const fileName = `assets/${name}-${hash}${extname(src)}`
    pictures.set(fileName, { fileName, source })
    return { href: `/${fileName}`, ...sizeOf(source) }
  }

  for (const { from, to, id } of linked) {
    const page = routes.get(to)
    if (page === undefined) faults.push(`${from} links to ${to}, which is no page`)
    else if (id !== '' && !page.html.includes(`id="${id}"`)) {
      faults.push(`${from} links to #${id} of ${page.path}, which has no such heading`)
    }
  }
  return { groups, pages, pictures: [...pictures.values()], faults }
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** In px, of an SVG with a viewBox, and of a PNG. With it the page does not jump when the picture arrives. */
function sizeOf(source: Buffer): { width?: number; height?: number } {
  if (source.toString('latin1', 1, 4) === 'PNG') {
    return { width: source.readUInt32BE(16), height: source.readUInt32BE(20) }
  }
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(source.toString('utf8', 0, 1_000)) ?? []
  return width === undefined ? {} : { width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) }
}

/** https://llmstxt.org: the pages for programs that read. */
export function llmsTxt({ groups, pages }: Documents): string {
  const parts = groups.map(({ title, pages: paths }) => {
    const lines = paths.map((path) => {
      const page = pages.find((one) => one.path === path)
      return `- [${page?.title ?? path}](/docs/${path}): ${firstSentence(page?.lead ?? '')}`
    })
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return [
    '# Tollgate\n',
    '> A multi-tenant gateway in front of language and image models. Clients keep their SDK, and change the base URL, the key and the name of the model.\n',
    'Each page below is plain Markdown. `/openapi.json` describes every endpoint for programs.\n',
    ...parts,
  ].join('\n')
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
}
