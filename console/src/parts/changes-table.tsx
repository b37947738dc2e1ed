import type { Change } from './changes.ts'
import classes from './changes-table.module.css'

/** What differs, member by member. `yours`: what its reader wants there, by path; then a column shows it. */
export function ChangesTable({
  changes,
  heads = ['Before', 'After'],
  yours = new Map(),
}: {
  changes: readonly Change[]
  heads?: readonly [string, string]
  yours?: ReadonlyMap<string, string>
}) {
  const hasYours = changes.some(({ path }) => yours.has(path))
  return (
    <div className={classes.frame}>
      <table className={classes.changes}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{heads[0]}</th>
            <th scope="col">{heads[1]}</th>
            {hasYours ? <th scope="col">Yours</th> : null}
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, kind, before, after }) => (
            <tr key={path} data-kind={kind}>
              <th scope="row">{path}</th>
              <td data-head={heads[0]}>{before ?? <None />}</td>
              <td data-head={heads[1]}>{after ?? <None />}</td>
              {hasYours ? (
                <td data-head="Yours">{yours.get(path) ?? <span className="tg-quiet">not changed</span>}</td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function None() {
  return <span className="tg-quiet">none</span>
}
