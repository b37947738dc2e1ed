import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { site } from '../../site.ts'
import classes from './api.module.css'
import { anchorOf, groupsOf, openApiQuery } from './openapi-document.ts'

/** Every endpoint of this gateway, from its own OpenAPI document. */
export function ApiPage() {
  useDocumentTitle(`Every endpoint · ${site.name}`)
  const { data, error, refetch } = useQuery(openApiQuery)
  return (
    <div className={classes.page}>
      <h1>Every endpoint</h1>
      <p className={classes.lead}>
        As this gateway describes itself in <a href="/openapi.json">/openapi.json</a>. The formats of models
        are their vendors’: each endpoint links to their reference.
      </p>
      {data === undefined ? (
        error === null ? (
          <Waiting />
        ) : (
          <Problem error={error} doing="Read the endpoints" onAgain={() => void refetch()} />
        )
      ) : (
        groupsOf(data).map(({ id, title, endpoints }) => (
          <section key={id} aria-label={title}>
            <h2>
              <Link to="/docs/api/$group" params={{ group: id }}>
                {title}
              </Link>
            </h2>
            <ul className={classes.list}>
              {endpoints.map((endpoint) => (
                <li key={anchorOf(endpoint)}>
                  <Link to="/docs/api/$group" params={{ group: id }} hash={anchorOf(endpoint)}>
                    <span className={classes.method}>{endpoint.method}</span>
                    <code>{endpoint.path}</code>
                  </Link>
                  <span className={classes.summary}>{endpoint.operation.summary}</span>
                </li>
              ))}
            </ul>
          </section>
        ))
      )}
    </div>
  )
}
