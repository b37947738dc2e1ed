import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { count } from '../../format/numbers.ts'
import { usePart } from '../../parts/page-parts.tsx'
import classes from './channels.module.css'

/** Names that the page lists; of more, it says how many. */
const namesMax = 20
const days = 7

/**
 * Which models a channel serves by `*`: those of the catalog that no channel offers by their name, and names
 * outside the catalog that clients have asked for lately.
 */
export function WildcardServes({ channel, offered }: { channel: string; offered: readonly string[] }) {
  const maySeeLog = useMay()('log')
  const served = useQuery({
    queryKey: ['channels', 'served', channel],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/models', { params: { query: { channel, limit: 200 } }, signal })),
  })
  const asked = useQuery({
    queryKey: ['traffic', 'names', channel],
    enabled: maySeeLog,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary', {
          params: {
            query: {
              channel,
              group_by: 'model',
              outcome: 'succeeded',
              from: new Date(Date.now() - days * 86_400_000).toISOString(),
              limit: 200,
            },
          },
          signal,
        }),
      ),
  })
  const problem = usePart('what its wildcard serves', served)
  if (problem === null) return null
  if (problem !== undefined) return problem
  if (served.data === undefined) return null
  const known = served.data.data
  const resolved = known.filter((model) => model.id !== '*' && isByWildcard(model, channel))
  const names = new Set([...offered, ...known.flatMap(({ id, aliases }) => [id, ...aliases])])
  const others = (asked.data?.data ?? []).filter(
    ({ model }) => typeof model === 'string' && !names.has(model),
  )
  return (
    <div className={classes.whole}>
      {resolved.length === 0 ? (
        <div>No model of the catalog: other channels offer each of them by its name.</div>
      ) : (
        <div>
          {served.data.next_cursor === null ? 'Of the catalog: ' : 'Of the catalog, among others: '}
          {resolved.slice(0, namesMax).map(({ id }, index) => (
            <span key={id}>
              {index === 0 ? '' : ', '}
              <Link to="/console/models/$id" params={{ id }}>
                {id}
              </Link>
            </span>
          ))}
          {more(resolved.length)}
        </div>
      )}
      {others.length === 0 ? null : (
        <div>
          Other names that it has answered in the last {days} days:{' '}
          {others.slice(0, namesMax).map(({ model, requests }, index) => (
            <span key={model}>
              {index === 0 ? '' : ', '}
              <Link to="/console/log" search={{ channel, requested_model: model ?? '', last: '7d' }}>
                {model}
              </Link>{' '}
              ({count(requests)})
            </span>
          ))}
          {more(others.length)}
        </div>
      )}
    </div>
  )
}

function more(names: number): string {
  return names > namesMax ? `, and ${count(names - namesMax)} more` : ''
}

function isByWildcard({ channels }: Schema<'AdminModelDetails'>, channel: string): boolean {
  return channels.some(({ name, by }) => name === channel && by === 'wildcard')
}
