import { PROVIDER_TYPES, type ProviderType } from "../../domain/source/events.ts";
import { PROVIDERS, type Provider } from "./provider-schemes.ts";
import { PROVIDER_SETUP, type ProviderSetup } from "./provider-setup.ts";
import { sampleTypes } from "./samples/samples.ts";

export type CatalogueEntry = { readonly type: ProviderType; readonly sample_types: readonly string[] } & Pick<
  Provider,
  "category" | "auth" | "label"
> &
  ProviderSetup;

export const providerCatalogue = (): CatalogueEntry[] =>
  PROVIDER_TYPES.map((type) => {
    const { category, auth, label } = PROVIDERS[type];
    return { type, category, auth, label, ...PROVIDER_SETUP[type], sample_types: sampleTypes(type) };
  });

export const isProviderType = (type: string): type is ProviderType => PROVIDER_TYPES.some((known) => known === type);

export const makeSecret = (type: ProviderType, random: Uint8Array): string => PROVIDERS[type].secret.make(random);

export const checkSecret = (type: ProviderType, secret: string): string | null => PROVIDERS[type].secret.fault(secret);
