import { writeFileSync } from 'node:fs';
import { typesFromSchemas, typesPath } from './schema-types.ts';

writeFileSync(typesPath, await typesFromSchemas());
