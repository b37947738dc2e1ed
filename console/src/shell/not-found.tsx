import { Link } from '@tanstack/react-router'
import { Teach } from '../parts/teach.tsx'
import { site } from '../site.ts'

export function NotFound() {
  return (
    <main>
      <Teach title="There is no such page" action={<Link to="/console">Go to the overview</Link>}>
        {site.name} has no page at <span className="tg-mono">{window.location.pathname}</span>.
      </Teach>
    </main>
  )
}
