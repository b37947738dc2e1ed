/** What the gateway writes into each page: how its operator has named it, and which pages are on. */
export interface Site {
  /** The gateway's name, `Tollgate` unless the operator gave it another. */
  name: string
  /** Path of the operator's logo; null: that of Tollgate, `/site/icon`. */
  logo: string | null
  /** The address that clients call, without a path and a slash at its end; null: that of the page. */
  url: string | null
  version: string
  /** The pages that are on. */
  pages: readonly ('console' | 'home' | 'models' | 'docs')[]
  /** For the style sheets that Mantine writes into the page. */
  nonce: string
}

/** Where the gateway did not serve the page: a developer's vite. */
const byItself: Site = {
  name: 'Tollgate',
  logo: null,
  url: null,
  version: '',
  pages: ['console', 'home', 'models', 'docs'],
  nonce: '',
}

function read(): Site {
  const text = document.getElementById('site')?.textContent
  return text ? { ...byItself, ...(JSON.parse(text) as Partial<Site>) } : byItself
}

export const site: Site = read()

/** What clients call, such as `https://llm.example.com`. */
export const gatewayUrl: string = site.url ?? window.location.origin
