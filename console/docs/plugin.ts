import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Plugin } from 'vite'
import { type Documents, llmsTxt, readDocuments } from './documents.ts'
import { searchIndex } from './search-index.ts'
import { snippetModule } from './snippet-module.ts'

const contentsId = 'virtual:docs'
const pagePrefix = 'virtual:docs/'
const snippetsId = 'virtual:snippets'

/**
 * The documents in `docs` as modules: `virtual:docs` is the table of contents, and each page is a chunk of
 * its own. Beside them stand the index of the search, the pictures, the Markdown as it is, and llms.txt.
 */
export function documentsPlugin(docs: string): Plugin {
  const folder = resolve(docs)
  let made: Made | undefined
  const get = () => {
    made ??= make(readDocuments(folder))
    return made
  }
  return {
    name: 'tollgate-documents',
    buildStart() {
      for (const fault of get().documents.faults) this.warn(fault)
    },
    resolveId(id) {
      if (id === contentsId || id === snippetsId || id.startsWith(pagePrefix)) return `\0${id}`
      return undefined
    },
    load(id) {
      if (id === `\0${snippetsId}`) return snippetModule()
      if (id === `\0${contentsId}`) return contentsModule(get())
      if (id.startsWith(`\0${pagePrefix}`)) return pageModule(get(), id.slice(pagePrefix.length + 1))
      return undefined
    },
    generateBundle() {
      const { documents, search } = get()
      const files = [
        search,
        ...documents.pictures,
        ...documents.pages.map(({ path, markdown }) => ({ fileName: `docs/${path}`, source: markdown })),
        { fileName: 'llms.txt', source: llmsTxt(documents) },
      ]
      for (const { fileName, source } of files) this.emitFile({ type: 'asset', fileName, source })
    },
    configureServer(server) {
      server.watcher.add(folder)
      server.watcher.on('all', (_event, path) => {
        if (!path.startsWith(folder)) return
        made = undefined
        server.moduleGraph.invalidateAll()
        server.ws.send({ type: 'full-reload' })
      })
      server.middlewares.use((request, response, next) => {
        const path = request.url?.slice(1)
        const { documents, search } = get()
        const file = [search, ...documents.pictures].find(({ fileName }) => fileName === path)
        if (file === undefined) return next()
        response.setHeader('content-type', path?.endsWith('.svg') ? 'image/svg+xml' : 'application/json')
        response.end(file.source)
      })
    },
  }
}

interface Made {
  documents: Documents
  search: { fileName: string; source: string }
}

function make(documents: Documents): Made {
  const source = searchIndex(documents.pages)
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8)
  return { documents, search: { fileName: `assets/docs-search-${hash}.json`, source } }
}

function contentsModule({ documents, search }: Made): string {
  const groups = documents.groups.map(({ title, pages }) => {
    const links = pages.map((path) => {
      const page = documents.pages.find((one) => one.path === path)
      const words = JSON.stringify({ route: page?.route, path, title: page?.title })
      return `{ ...${words}, load: () => import(${JSON.stringify(pagePrefix + path)}) }`
    })
    return `{ title: ${JSON.stringify(title)}, pages: [${links.join(',\n')}] }`
  })
  return `export const groups = [${groups.join(',\n')}]\nexport const searchUrl = ${JSON.stringify(`/${search.fileName}`)}\n`
}

function pageModule({ documents }: Made, path: string): string {
  const page = documents.pages.find((one) => one.path === path)
  if (page === undefined) throw new Error(`docs/${path} is not in docs/contents.json`)
  const { title, html, headings } = page
  return `export default ${JSON.stringify({ title, html, headings })}`
}
