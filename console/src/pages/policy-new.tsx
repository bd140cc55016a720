export { PolicyNew as default } from "./policy.tsx";
