/** Whether a public group has a model with this id, or this other name. */
export type HasModel = (id: string) => Promise<boolean>

/** The pages of the console, as `console/src/console-routes.tsx` has them. Those of the second list have a page for each row too. */
const alone = ['sign-in', 'link', 'playground', 'users', 'set-up', 'ledger', 'settings', 'account']
const withRows = ['log', 'jobs', 'alerts', 'audit', 'tenants', 'keys', 'groups', 'channels', 'models']

const consolePath = new RegExp(
  `^/console(?:/(?:${[...alone, ...withRows].join('|')})|/(?:${withRows.join('|')})/[^/]+)?/?$`,
)

/**
 * Whether the pages have something at this path below `/console`, `/models` or `/docs`. What a page shows may still be missing, such
 * as a key: the page says so. A model whose catalog cannot be read just now counts as there.
 */
export async function isThere(
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
