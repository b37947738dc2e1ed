import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Copy } from '../../parts/copy.tsx'
import { gatewayUrl, site } from '../../site.ts'
import { allModels, catalogQuery } from '../models/catalog.ts'
import { firstSnippets } from '../models/model-snippets.ts'
import { SnippetTabs } from '../snippet-tabs.tsx'
import { HomeModels } from './home-models.tsx'
import classes from './home-page.module.css'

/** What this gateway is, and how to ask it. It appears before the catalog has come. */
export function HomePage() {
  useDocumentTitle(site.name)
  const catalog = useQuery(catalogQuery)
  const hasDocs = site.pages.includes('docs')
  const models = catalog.data ? allModels(catalog.data) : []
  const first = models.find(({ endpoints }) => endpoints.includes('/v1/chat/completions'))
  return (
    <div className={classes.page}>
      <div className={classes.top}>
        <div className={classes.words}>
          <h1>One address for many models</h1>
          <p className={classes.lead}>
            {site.name} is a gateway in front of language and image models. Keep the SDK that you have: change
            its base URL, the key and the model’s name.
          </p>
          <h2>Base URL</h2>
          <BaseUrl url={`${gatewayUrl}/v1`} clients="OpenAI SDK, AI SDK, LangChain, Codex" />
          <BaseUrl url={gatewayUrl} clients="Anthropic SDK, Claude Code" />
          <p className={classes.note}>
            Requests need a key, which the operator of this gateway gives you, or which you make in the
            console if you have an account there. Put it into <code>TOLLGATE_KEY</code> of your environment.
            These pages need no account, and never ask for a key.
          </p>
        </div>
        <section className={classes.code} aria-label="The first request">
          <SnippetTabs snippets={firstSnippets} model={first?.id ?? 'MODEL'} />
          {hasDocs ? (
            <div className={classes.next}>
              <Link to="/docs/$" params={{ _splat: 'tutorials/first-request' }}>
                Your first request, step by step
              </Link>
              <Link to="/docs/$" params={{ _splat: 'tutorials/coding-agent' }}>
                Use it with a coding agent
              </Link>
              <Link to="/docs/api">All endpoints</Link>
            </div>
          ) : null}
        </section>
      </div>
      <HomeModels catalog={catalog} />
    </div>
  )
}

function BaseUrl({ url, clients }: { url: string; clients: string }) {
  return (
    <div className={classes.base}>
      <div className={classes.clients}>{clients}</div>
      <div className={classes.url}>
        <code>{url}</code>
        <Copy text={url} what={`the base URL for ${clients}`} />
      </div>
    </div>
  )
}
