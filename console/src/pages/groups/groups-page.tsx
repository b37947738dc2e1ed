import { Page } from '../../parts/page.tsx'

export function GroupsPage() {
  return <Page title="Groups">{null}</Page>
}
