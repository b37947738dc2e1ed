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
            <td>{before ?? <None />}</td>
            <td>{after ?? <None />}</td>
            {hasYours ? <td>{yours.get(path) ?? <span className="tg-quiet">not changed</span>}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function None() {
  return <span className="tg-quiet">none</span>
}
