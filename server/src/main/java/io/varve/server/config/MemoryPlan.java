package io.varve.server.config;

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;
/**
 * The division of the machine's or container's memory between the JVM and maxmemory. Immutable.
 *
 * <pre>
 *  | heap | direct buffers | compiled code | rest of the JVM | maxmemory                | margin |
 *  |  32  |       8        |       12      |       32        |             36           |    8   |  128 MiB
 *  |  32  |       16       |       24      |       48        |            120           |   16   |  256 MiB
 *  |  64  |       32       |       32      |       48        |  256, up to 336 unwarned |        |  512 MiB
 *  |  96  |       64       |       48      |       48        |  half                    |        |  1 GiB and above
 * </pre>
 *
 * <p>The launcher chooses the JVM's parts from the same limit. This class reads them from the JVM, so the sum is right
 * however the JVM was started.
 *
 * @param limitBytes memory of the machine or container
 * @param heapBytes maximum size of the heap
 * @param directBytes maximum size of the connections' buffers
 * @param codeBytes maximum size of compiled code
 */
public record MemoryPlan(long limitBytes, long heapBytes, long directBytes, long codeBytes) {
    private static final long MB = 1 << 20;
    /**
     * Memory of class metadata, the start cache, the compiler, stacks and the C library: the measured size plus one
     * third.
     */
    private static final long ELSE_BYTES = 48 * MB;
    /** The counterpart without an optimizing compiler, which the launcher omits below {@link #SMALL_BYTES}. */
    private static final long ELSE_BYTES_OF_SMALL = 32 * MB;
    private static final long SMALL_BYTES = 192 * MB;
    /**
     * Memory of the process beside a full cache in any case, including the pages of the program's files that it
     * executes.
     */
    private static final long MIN_BYTES = 104 * MB;
    private static final long MIN_SMALL_HEAP_BYTES = 80 * MB;
    /** Under a larger limit, pooled connection buffers take no more than this, and code hardly does. */
    private static final long MAX_DIRECT_BYTES = 64 * MB;
    private static final long MAX_CODE_BYTES = 48 * MB;
    /** The default leaves one part of this many free, for the system's page cache of the program's files. */
    private static final int MARGIN_PART = 16;
    /** The minimum of the default, whatever the limit: one part of this many. */
    private static final int MIN_PART = 8;
    /** From this limit on, memory restricts neither the number of event loops nor maxmemory. */
    private static final long MUCH_BYTES = 1024 * MB;
    private static final long BYTES_PER_EVENT_LOOP = 64 * MB;
    private static final int MAX_EVENT_LOOPS = 128;

    /** Read once: the limits of the JVM do not change. */
    private static final MemoryPlan OF_THIS_PROCESS = read();

    /** The plan of this JVM on this machine. */
    public static MemoryPlan ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    private static MemoryPlan read() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long heap = bytes(options, "MaxHeapSize");
        long direct = bytes(options, "MaxDirectMemorySize"); // 0: as much as the heap
        return new MemoryPlan(MachineMemory.totalBytes(), heap,
                Math.min(MAX_DIRECT_BYTES, direct == 0 ? heap : direct),
                Math.min(MAX_CODE_BYTES, bytes(options, "ReservedCodeCacheSize")));
    }

    private static long bytes(HotSpotDiagnosticMXBean options, String name) {
        return Long.parseLong(options.getVMOption(name).getValue());
    }

    /** Maximum memory of the process beside maxmemory. */
    public long jvmBytes() {
        return heapBytes + directBytes + codeBytes + (limitBytes < SMALL_BYTES ? ELSE_BYTES_OF_SMALL : ELSE_BYTES);
    }

    /** The value of {@code maxmemory 0}: half of the limit, or less if the JVM and the page cache need more. */
    public long defaultMaxMemoryBytes() {
        long left = limitBytes - jvmBytes() - limitBytes / MARGIN_PART;
        return Math.max(Math.min(limitBytes / 2, left), limitBytes / MIN_PART);
    }

    /** One event loop per processor, but fewer if memory is small: each has its own stacks and buffers. */
    public int maxEventLoops() {
        int loops = Math.min(MAX_EVENT_LOOPS, Runtime.getRuntime().availableProcessors());
        return limitBytes >= MUCH_BYTES ? loops : Math.min(loops, (int) Math.max(2, limitBytes / BYTES_PER_EVENT_LOOP));
    }

    /**
     * Maximum of maxmemory: the limit, but in a small container the limit less the minimum needs of the process. Above
     * it the system would kill the process, or the process would only re-read its files.
     */
    public long highestMaxMemoryBytes() {
        if (limitBytes >= MUCH_BYTES) {
            return limitBytes;
        }
        long min = limitBytes < SMALL_BYTES ? MIN_SMALL_HEAP_BYTES : MIN_BYTES;
        return Math.max(limitBytes - min, limitBytes / MIN_PART);
    }

    /** @throws ConfigException in one line, if maxmemory is above its maximum */
    void require(long maxMemoryBytes) {
        long max = highestMaxMemoryBytes();
        if (maxMemoryBytes > max) {
            throw new ConfigException("maxmemory " + maxMemoryBytes + ": expected at most "
                    + (max == limitBytes
                            ? "the memory of this machine or container, " + limitBytes + " bytes"
                            : max + " bytes (" + MemoryUnits.human(max) + "), because the JVM needs the rest of the "
                                    + MemoryUnits.human(limitBytes) + " that this machine or container has"));
        }
    }

    /** Whether the process stays within the limit whatever its clients do. */
    public boolean fits(long maxMemoryBytes) {
        return maxMemoryBytes <= limitBytes - jvmBytes();
    }

    /** The log line about a maxmemory that does not fit, with a suitable value. */
    public String warning(long maxMemoryBytes) {
        long max = limitBytes - jvmBytes();
        return "maxmemory " + maxMemoryBytes + " (" + MemoryUnits.human(maxMemoryBytes) + ") and "
                + MemoryUnits.human(jvmBytes()) + " for the JVM are more than the " + MemoryUnits.human(limitBytes)
                + " that this machine or container has: the system may kill the process. "
                + (max > 0
                        ? "It can be at most " + max + " (" + MemoryUnits.human(max) + ")"
                        : "Use a larger machine or container");
    }
}
