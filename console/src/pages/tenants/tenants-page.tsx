import { Page } from '../../parts/page.tsx'

export function TenantsPage() {
  return <Page title="Tenants">{null}</Page>
}
