package io.varve.server.config;

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;
/**
 * How the memory of the machine or container is divided between the JVM and maxmemory. Immutable.
 *
 * <pre>
 *  | heap | direct buffers | compiled code | all else of the JVM | maxmemory                 | margin |
 *  |  32  |        8       |       12      |          32         |             36            |    8   |  128 MiB
 *  |  32  |       16       |       24      |          48         |            120            |   16   |  256 MiB
 *  |  64  |       32       |       32      |          48         |  256, up to 336 unwarned  |        |  512 MiB
 *  |  96  |       64       |       48      |          48         |  half                     |        |    1 GiB and above
 * </pre>
 *
 * <p>The launcher chooses the JVM's parts by the same limit. Here they are read from the JVM: whatever started it, the sum is right.
 *
 * @param limitBytes what the machine or container has
 * @param heapBytes the most that the heap may take
 * @param directBytes the most that connections' buffers may take
 * @param codeBytes the most that compiled code may take
 */
public record MemoryPlan(long limitBytes, long heapBytes, long directBytes, long codeBytes) {
    private static final long MB = 1 << 20;
    /** Class metadata, the start cache, the compiler's memory, stacks, what the C library keeps: measured, with a third more. */
    private static final long ELSE_BYTES = 48 * MB;
    /** The same without an optimizing compiler, which the launcher leaves out below the second. */
    private static final long ELSE_BYTES_OF_SMALL = 32 * MB;
    private static final long SMALL_BYTES = 192 * MB;
    /** What the process has beside a full cache in any case, with the pages of the program's files that it runs from. */
    private static final long LEAST_BYTES = 104 * MB;
    private static final long LEAST_BYTES_OF_SMALL = 80 * MB;
    /** Connections' buffers in pools take no more of a larger limit, and code hardly does. */
    private static final long MOST_DIRECT_BYTES = 64 * MB;
    private static final long MOST_CODE_BYTES = 48 * MB;
    /** What the default leaves free: a part of so many. The system's page cache for the program's files lives there. */
    private static final int MARGIN_PART = 16;
    /** The default, however little there is: a part of so many. */
    private static final int LEAST_PART = 8;
    /** From here on memory bounds neither how many event loops there are nor what maxmemory may be of it. */
    private static final long MUCH_BYTES = 1024 * MB;
    private static final long BYTES_PER_EVENT_LOOP = 64 * MB;
    private static final int MOST_EVENT_LOOPS = 128;

    /** Read once: what the JVM may take does not change. */
    private static final MemoryPlan OF_THIS_PROCESS = read();

    /** What this JVM may take on this machine. */
    public static MemoryPlan ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    private static MemoryPlan read() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long heap = bytes(options, "MaxHeapSize");
        long direct = bytes(options, "MaxDirectMemorySize"); // 0: as much as the heap
        return new MemoryPlan(MachineMemory.totalBytes(), heap,
                Math.min(MOST_DIRECT_BYTES, direct == 0 ? heap : direct),
                Math.min(MOST_CODE_BYTES, bytes(options, "ReservedCodeCacheSize")));
    }

    private static long bytes(HotSpotDiagnosticMXBean options, String name) {
        return Long.parseLong(options.getVMOption(name).getValue());
    }

    /** What the process may take beside maxmemory. */
    public long jvmBytes() {
        return heapBytes + directBytes + codeBytes + (limitBytes < SMALL_BYTES ? ELSE_BYTES_OF_SMALL : ELSE_BYTES);
    }

    /** {@code maxmemory 0}: half of what there is, or what the JVM leaves of it. */
    public long defaultMaxMemoryBytes() {
        long left = limitBytes - jvmBytes() - limitBytes / MARGIN_PART;
        return Math.max(Math.min(limitBytes / 2, left), limitBytes / LEAST_PART);
    }

    /** As many event loops as there are processors, but few where there is little memory: each has stacks and buffers of its own. */
    public int mostEventLoops() {
        int loops = Math.min(MOST_EVENT_LOOPS, Runtime.getRuntime().availableProcessors());
        return limitBytes >= MUCH_BYTES ? loops : Math.min(loops, (int) Math.max(2, limitBytes / BYTES_PER_EVENT_LOOP));
    }

    /**
     * The most that maxmemory may be: all there is, but in a small container what the process leaves in any case. Beyond that the system would
     * end it, or do nothing but read its files anew.
     */
    public long mostMaxMemoryBytes() {
        if (limitBytes >= MUCH_BYTES) {
            return limitBytes;
        }
        long least = limitBytes < SMALL_BYTES ? LEAST_BYTES_OF_SMALL : LEAST_BYTES;
        return Math.max(limitBytes - least, limitBytes / LEAST_PART);
    }

    /** @throws ConfigException if maxmemory is more than it may be, in one line */
    void require(long maxMemoryBytes) {
        long most = mostMaxMemoryBytes();
        if (maxMemoryBytes > most) {
            throw new ConfigException("maxmemory " + maxMemoryBytes + ": allowed is at most "
                    + (most == limitBytes
                            ? "what this machine or container has, " + limitBytes + " bytes"
                            : most + " bytes (" + MemoryUnits.human(most) + "), which the JVM leaves of the "
                                    + MemoryUnits.human(limitBytes) + " that this machine or container has"));
        }
    }

    /** Whether the process can stay within the limit whatever its clients do. */
    public boolean fits(long maxMemoryBytes) {
        return maxMemoryBytes <= limitBytes - jvmBytes();
    }

    /** What is wrong with a maxmemory that does not fit, and what would be right: one line for the log. */
    public String warning(long maxMemoryBytes) {
        long most = limitBytes - jvmBytes();
        return "maxmemory " + maxMemoryBytes + " (" + MemoryUnits.human(maxMemoryBytes) + ") and "
                + MemoryUnits.human(jvmBytes()) + " for the JVM are more than the " + MemoryUnits.human(limitBytes)
                + " that this machine or container has: the system may end the process. "
                + (most > 0
                        ? "What fits is at most " + most + " (" + MemoryUnits.human(most) + ")"
                        : "It needs a larger one");
    }
}
