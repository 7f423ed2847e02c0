// Goal: a process whose memory the kernel limits, as a container's.
// Method: a control group below that of this process, or below the root: version 2 where it has the memory controller,
//   otherwise version 1. Making one needs the rights of root. Where it cannot be made, make() fails and says why.
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";

/// The directories in which a group can be made, with the files that differ between the versions.
async function parents() {
  const lines = (await readFile("/proc/self/cgroup", "utf8")).trim().split("\n").map((line) => line.split(":"));
  const found = [];
  for (const [number, controllers, path] of lines) {
    if (number === "0") {
      for (const mount of ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]) {
        for (const directory of [mount + path, mount]) found.push({ directory, limit: "memory.max", peak: "memory.peak", version: 2 });
      }
    } else if (controllers.split(",").includes("memory")) {
      for (const directory of [`/sys/fs/cgroup/memory${path}`, "/sys/fs/cgroup/memory"]) {
        found.push({ directory, limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes", version: 1 });
      }
    }
  }
  return found;
}

export class MemoryGroup {
  #parent;
  directory;

  static async make(bytes) {
    const refusals = [];
    for (const parent of await parents()) {
      const group = new MemoryGroup();
      group.#parent = parent;
      group.directory = `${parent.directory}/varve-soak-${process.pid}`;
      let isMade = false;
      try {
        if (parent.version === 2) await writeFile(`${parent.directory}/cgroup.subtree_control`, "+memory");
        await mkdir(group.directory);
        isMade = true;
        await writeFile(`${group.directory}/${parent.limit}`, String(bytes));
        return group;
      } catch (error) {
        refusals.push(error.message);
        if (isMade) await rmdir(group.directory);
      }
    }
    throw new Error(`no control group with a limit of memory can be made here: ${refusals.join("; ") || "there are none"}`);
  }

  /// The command that runs another one in the group.
  wrap(command, words) {
    return ["sh", ["-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, this.directory, command, ...words]];
  }

  /// How often the kernel killed a process of the group because of its memory.
  async kills() {
    const file = this.#parent.version === 2 ? "memory.events" : "memory.oom_control";
    return Number(/^oom_kill (\d+)$/m.exec(await readFile(`${this.directory}/${file}`, "utf8"))?.[1] ?? 0);
  }

  /// The most memory that was charged, with the page cache, which the kernel takes back as it needs it.
  async peak() {
    return Number(await readFile(`${this.directory}/${this.#parent.peak}`, "utf8"));
  }

  /// Its processes must have ended.
  async remove() {
    await rmdir(this.directory);
  }
}
