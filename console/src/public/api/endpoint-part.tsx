import { Copy } from '../../parts/copy.tsx'
import { gatewayUrl } from '../../site.ts'
import classes from './api.module.css'
import {
  anchorOf,
  type DocumentedEndpoint,
  type OpenApi,
  type Parameter,
  resolved,
} from './openapi-document.ts'
import { SchemaFold, typeOf } from './schema-view.tsx'
import { Words } from './words.tsx'

/** One endpoint: who may call it, its parameters, its body, what it answers. */
export function EndpointPart({ document, endpoint }: { document: OpenApi; endpoint: DocumentedEndpoint }) {
  const { method, path, operation } = endpoint
  const parameters = (operation.parameters ?? []).map((one) => resolved(document, one))
  const id = anchorOf(endpoint)
  return (
    <section className={classes.endpoint} aria-labelledby={id}>
      <h2 id={id}>{operation.summary}</h2>
      <div className={classes.call}>
        <span className={classes.method}>{method}</span>
        <code>{path}</code>
        <Copy text={gatewayUrl + path} what="the address" />
      </div>
      <p>
        <Words text={operation.description ?? ''} /> {authOf(operation.security)}{' '}
        {operation.externalDocs === undefined ? null : (
          <a href={operation.externalDocs.url} rel="noreferrer">
            {operation.externalDocs.description}
          </a>
        )}
      </p>
      <Parameters parameters={parameters} document={document} of={`${method} ${path}`} />
      {Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema = {} }]) => (
        <SchemaFold key={type} document={document} title="Body" type={type} schema={schema} />
      ))}
      {Object.entries(operation.responses).map(([status, response]) => {
        const { description, content } = resolved(document, response)
        const title = status === 'default' ? 'Errors' : `Answer ${status}`
        const bodies = Object.entries(content ?? {})
        if (bodies.length === 0) {
          return (
            <p key={status} className={classes.bare}>
              {title}: {description}
            </p>
          )
        }
        return bodies.map(([type, { schema = {} }]) => (
          <SchemaFold
            key={`${status} ${type}`}
            document={document}
            title={title}
            type={type}
            schema={schema}
            words={description === operation.summary ? undefined : description}
          />
        ))
      })}
    </section>
  )
}

function authOf(security: readonly Record<string, unknown>[] | undefined): string {
  const names = (security ?? []).flatMap((one) => Object.keys(one))
  if (names.length === 0) return 'It needs no key.'
  if (names.includes('adminToken')) return 'It needs an API token of the admin API, or a session.'
  return 'It needs a key: authorization: Bearer, or x-api-key.'
}

function Parameters({
  parameters,
  document,
  of,
}: {
  parameters: readonly Parameter[]
  document: OpenApi
  of: string
}) {
  const names = new Set(parameters.map(({ name }) => name))
  // Each filter has a second parameter that turns it round: one line says so.
  const shown = parameters.filter(({ name }) => !(name.startsWith('not_') && names.has(name.slice(4))))
  const isTurned = shown.length < parameters.length
  if (shown.length === 0) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={classes.parameters} aria-label={`Parameters of ${of}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Parameter</th>
            <th scope="col">In</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, in: place, required, schema = {}, description }) => (
            <tr key={`${place} ${name}`}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{place}</td>
              <td>{typeOf(document, schema)}</td>
              <td>
                {required === true && place !== 'path' ? 'Required. ' : ''}
                <Words text={description ?? ''} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isTurned ? (
        <p className={classes.bare}>
          With <code>not_</code> before its name, a filter leaves out what it shows otherwise.
        </p>
      ) : null}
    </section>
  )
}
