package io.varve.server.admin;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** What the system and the JVM say of this process. Many threads: static methods; the file guards itself. */
final class ProcessMemory {
    private static final ProcFile STATM = new ProcFile("/proc/self/statm");
    private static final long PAGE_BYTES = 4096;
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    private ProcessMemory() {}

    /** Resident bytes, or {@code otherwise} where the system does not say. */
    static long residentBytes(long otherwise) {
        String pages = STATM.read();
        return pages == null ? otherwise : Long.parseLong(pages.split(" ")[1]) * PAGE_BYTES;
    }

    static long heapUsedBytes() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static long heapMaxBytes() {
        return Runtime.getRuntime().maxMemory();
    }

    static long gcPauseMillis() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            sum += Math.max(0, collector.getCollectionTime());
        }
        return sum;
    }
}
