import { useDocumentTitle } from '@mantine/hooks'
import { ArrowLeftIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { site } from '../../site.ts'
import classes from './api.module.css'
import { EndpointPart } from './endpoint-part.tsx'
import { anchorOf, type EndpointGroup, groupsOf, type OpenApi, openApiQuery } from './openapi-document.ts'

/** The endpoints of one group: parameters, bodies, answers, errors. */
export function ApiGroupPage() {
  const { group: id = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(openApiQuery)
  const group = data === undefined ? undefined : groupsOf(data).find((one) => one.id === id)
  useDocumentTitle(`${group?.title ?? 'Endpoints'} · ${site.name}`)
  return (
    <div className={classes.page}>
      <Link to="/docs/api" className={classes.back}>
        <ArrowLeftIcon size={14} aria-hidden /> Every endpoint
      </Link>
      {data === undefined ? (
        error === null ? (
          <Waiting />
        ) : (
          <Problem error={error} doing="Read the endpoints" onAgain={() => void refetch()} />
        )
      ) : group === undefined ? (
        <EmptyState
          title="There are no such endpoints"
          action={<Link to="/docs/api">See all endpoints</Link>}
        />
      ) : (
        <Group key={id} document={data} group={group} />
      )}
    </div>
  )
}

function Group({ document: openApi, group }: { document: OpenApi; group: EndpointGroup }) {
  useEffect(() => {
    const id = window.location.hash.slice(1)
    // The endpoints come after the browser has looked for the anchor.
    if (id !== '') document.getElementById(id)?.scrollIntoView()
  }, [])
  return (
    <>
      <h1>{group.title}</h1>
      {group.endpoints.map((endpoint) => (
        <EndpointPart key={anchorOf(endpoint)} document={openApi} endpoint={endpoint} />
      ))}
    </>
  )
}
