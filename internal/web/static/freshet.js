// What the pages do beyond links and forms. Everything works without it.
import { follow } from "./events.js";
import "./times.js";
import "./river.js";
import "./place.js";
import "./reading.js";
import "./refresh.js";
import "./filter.js";
import "./keys.js";

follow();
