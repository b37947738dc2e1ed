import { Page } from '../../parts/page.tsx'

export function TenantPage() {
  return <Page title="Tenant">{null}</Page>
}
