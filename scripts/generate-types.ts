import { writeFileSync } from 'node:fs';
import { clientTypesPath, typesFromOpenApi, typesFromSchemas, typesPath } from './schema-types.ts';

writeFileSync(typesPath, await typesFromSchemas());
writeFileSync(clientTypesPath, await typesFromOpenApi());
