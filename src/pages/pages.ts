import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { cutWhenStalled } from '../http/stalled-client.ts'
import type { Log } from '../telemetry/log.ts'
import { buildPages, whyNotBuilt } from './build.ts'
import { Built } from './built.ts'
import { fileHeaders, makeNonce, pageHeaders } from './headers.ts'
import { askAgainSeconds, notBuiltPage } from './not-built.ts'
import { readSite, siteHtml } from './site.ts'

/** Answers a request for a page or one of its files, and calls `next` for any other. */
export type PagesHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (cause?: unknown) => void,
) => void

export interface Pages {
  /** `hasModel`: whether `/models` has a page for this model. */
  answer(hasModel: HasModel): PagesHandler
  /**
   * Build the pages, unless they are as new as their sources. `print` gets a line before and one after. Never
   * rejects.
   */
  build(print: (line: string) => void): Promise<void>
}

const ownRoot = join(import.meta.dirname, '../..')

/**
 * The pages that people look at: the console, the home page, the models, the documents. Undefined: all of
 * them are off. Throws an Error for the operator. `root`: the checkout, whose console/dist is served.
 */
export function openPages(config: Config, log: Log, root: string = ownRoot): Pages | undefined {
  if (config.pages.length === 0) return undefined
  const site = readSite(config)
  const stallMs = config.bounds.clientStallMs
  const built = new Built(join(root, 'console/dist'), stallMs)
  let failure: string | undefined

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    hasModel: HasModel,
  ): Promise<boolean> {
    const path = pathOf(request)
    if (path === undefined) return false
    if (path === '/site/icon') return sendImage(response, site.logo ?? { bytes: icon, type: 'image/svg+xml' })
    if (path === '/site/logo' && site.logo !== undefined) return sendImage(response, site.logo)
    const page = pageAt(path)
    if (page !== undefined && !site.pages.includes(page)) {
      if (path !== '/' || !site.pages.includes('console')) return await sendNotFound(request, response, path)
      response.writeHead(302, { location: '/console', 'cache-control': 'no-cache' }).end()
      return true
    }
    if (path !== '/' && (await built.answer(path, request, response))) return true
    if (page === undefined) return await sendNotFound(request, response, path)
    if (!asksForPage(request)) return false
    const template = await built.template()
    const nonce = makeNonce()
    if (template === undefined) sendPage(response, 503, nonce, notBuilt(nonce))
    else if (await isThere(path, { hasModel, hasFile: (name) => built.has(name) }))
      sendPage(response, 200, nonce, siteHtml(template, site, nonce))
    else sendPage(response, 404, nonce, siteHtml(template, site, nonce, noSuchPage))
    return true
  }

  /**
   * A browser gets a page that leads on. All others get the error of the API, with its advice, and so has a
   * browser below its paths.
   */
  async function sendNotFound(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<boolean> {
    if (isOfApi(path) || !asksForPage(request) || !/text\/html/.test(request.headers.accept ?? ''))
      return false
    const template = await built.template()
    const nonce = makeNonce()
    const html = template === undefined ? notBuilt(nonce) : siteHtml(template, site, nonce, noSuchPage)
    sendPage(response, 404, nonce, html)
    return true
  }

  const notBuilt = (nonce: string) => notBuiltPage(site, failure ?? whyNotBuilt(root), nonce)

  function sendPage(response: ServerResponse, status: 200 | 404 | 503, nonce: string, html: string): void {
    const bytes = Buffer.from(html)
    // Links to images carry the public address.
    const headers = pageHeaders(nonce, site.url === undefined ? [] : [new URL(site.url).origin])
    if (status === 503) {
      headers['retry-after'] = String(askAgainSeconds)
      headers['cache-control'] = 'no-store'
      // Only one of several processes builds, and knows when that fails: a new connection may reach it.
      headers.connection = 'close'
    }
    response.writeHead(status, { ...headers, 'content-length': bytes.length })
    response.end(bytes)
    cutWhenStalled(response, stallMs)
  }

  function sendImage(response: ServerResponse, { bytes, type }: { bytes: Buffer; type: string }): true {
    response.writeHead(200, {
      ...fileHeaders,
      'content-type': type,
      'content-length': bytes.length,
      'cache-control': 'no-cache',
    })
    response.end(bytes)
    cutWhenStalled(response, stallMs)
    return true
  }

  return {
    answer: (hasModel) => (request, response, next) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') next()
      else answer(request, response, hasModel).then((isAnswered) => isAnswered || next(), next)
    },
    async build(print) {
      try {
        const begin = () => print('Building the pages takes a few seconds. The API already answers.')
        const seconds = await buildPages(root, begin)
        if (seconds !== undefined) print(`The pages are built, in ${seconds.toFixed(1)} s.`)
      } catch (cause) {
        failure = cause instanceof Error ? cause.message : String(cause)
        log.warn({ cause: failure }, 'the pages cannot be built; the API works without them')
      }
    },
  }
}

/** Without escapes; undefined: one of them is broken. */
function pathOf({ url = '' }: IncomingMessage): string | undefined {
  try {
    return decodeURI(url.replace(/\?.*$/s, ''))
  } catch {
    return undefined
  }
}

const noSuchPage = 'No such page'

function isOfApi(path: string): boolean {
  return /^\/(v1|admin|public|openapi\.json|healthz?|readyz)(\/|$)/i.test(path)
}

/** The page that has this path, whether it is on or off. */
function pageAt(path: string): Config['pages'][number] | undefined {
  if (path === '/') return 'home'
  const [, first] = /^\/(console|models|docs)(?:\/|$)/.exec(path) ?? []
  return first as 'console' | 'models' | 'docs' | undefined
}

/**
 * An SDK whose base URL lacks its /v1 asks for /models too. It sends a key, or takes JSON alone, and gets the
 * error that says what to change.
 */
function asksForPage({ headers }: IncomingMessage): boolean {
  if (headers['x-api-key'] !== undefined || /^bearer /i.test(headers.authorization ?? '')) return false
  return headers.accept === undefined || /text\/html|\*\/\*/.test(headers.accept)
}

/** Whether a public group has a model with this id, or this other name. */
export type HasModel = (id: string) => Promise<boolean>

/**
 * The pages of the console, as `console/src/console-routes.tsx` has them. Those of the second list have a
 * page for each row too.
 */
const alone = ['sign-in', 'link', 'playground', 'users', 'set-up', 'ledger', 'settings', 'account']
const withRows = ['log', 'jobs', 'alerts', 'audit', 'tenants', 'keys', 'groups', 'channels', 'models']

const consolePath = new RegExp(
  `^/console(?:/(?:${[...alone, ...withRows].join('|')})|/(?:${withRows.join('|')})/[^/]+)?/?$`,
)

/**
 * Whether the pages have something at this path below `/console`, `/models` or `/docs`. What a page shows may
 * still be missing, such as a key: the page says so. A model whose catalog cannot currently be read counts
 * as there.
 */
async function isThere(
  path: string,
  { hasModel, hasFile }: { hasModel: HasModel; hasFile(name: string): Promise<boolean> },
): Promise<boolean> {
  const [, first, rest = ''] = /^\/(console|models|docs)\/*(.*?)\/*$/s.exec(path) ?? []
  if (first === 'console') return consolePath.test(path)
  if (rest === '') return true
  if (first === 'models') return await hasModel(unescaped(rest)).catch(() => true)
  // The endpoints come from /openapi.json.
  if (/^api(\/[^/]+)?$/.test(rest)) return true
  if (/(^|\/)README$/.test(rest)) return false
  return (await hasFile(`docs/${rest}.md`)) || (await hasFile(`docs/${rest}/README.md`))
}

/** `decodeURI` leaves `%2F` and `%3A`, which the id of a model may have. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The icon of the pages where the operator has given no logo: a gate with its bar down. */
const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="6" fill="#0b7370"/>' +
    '<path d="M9 25V8M9 12h15M9 18h15" stroke="#fff" stroke-width="3.5" stroke-linecap="round" fill="none"/>' +
    '</svg>',
)
