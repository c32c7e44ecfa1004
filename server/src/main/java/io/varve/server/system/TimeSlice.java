package io.varve.server.system;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread's time slice: how long the system lets it run before it considers other threads. Immutable.
 *
 * <p>A thread with a shorter slice than the running one gets the core as soon as it wakes, as long as it has not used
 * more than its share. Its share over time does not change. Linux honours the slice from 6.12 on (its documents:
 * sched-eevdf). Older versions accept and ignore it. The server does not set it on other operating systems.
 */
public final class TimeSlice {
    /** The numbers of the system call sched_setattr, which sched_getattr follows, on the supported architectures. */
    private static final long SET_ATTRIBUTES_X86_64 = 314;
    private static final long SET_ATTRIBUTES_AARCH64 = 274;
    private static final long THIS_THREAD = 0;
    /** struct sched_attr in its first version: size, policy, flags, nice, priority, runtime, deadline, period. */
    private static final int ATTRIBUTES_BYTES = 48;
    private static final int SIZE_OFFSET = 0;
    private static final int POLICY_OFFSET = 4;
    private static final int RUNTIME_OFFSET = 24;
    private static final int SCHED_OTHER = 0;
    private static final int UNKNOWN = -1;

    private static final Logger LOG = LoggerFactory.getLogger(TimeSlice.class);

    private final long micros;

    /** @param micros 100 to 100,000, which the system honours; 0 for the default */
    public TimeSlice(long micros) {
        this.micros = micros;
    }

    /**
     * Requests the slice for the calling thread.
     *
     * @return whether the system accepted it; false if the request is impossible (the reason is logged), or if the
     *     thread already has another scheduling policy (real time, for instance)
     */
    public boolean apply() {
        long setAttributes = numberOfSetAttributes();
        if (micros == 0 || setAttributes == 0) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle call = systemCall();
            // Reads the attributes first: the set call also sets the niceness.
            MemorySegment attributes = attributes(call, setAttributes + 1, arena);
            if (attributes.get(ValueLayout.JAVA_INT, POLICY_OFFSET) != SCHED_OTHER) {
                return false;
            }
            attributes.set(ValueLayout.JAVA_LONG, RUNTIME_OFFSET, TimeUnit.MICROSECONDS.toNanos(micros));
            return (long) call.invokeExact(setAttributes, THIS_THREAD, attributes, 0L, 0L) == 0;
        } catch (Throwable unexpected) {
            LOG.warn("Cannot request a time slice of {} µs from the scheduler", micros, unexpected);
            return false;
        }
    }

    /** The calling thread's slice according to the system, in microseconds; 0 if it does not report one. */
    static long currentMicros() {
        long setAttributes = numberOfSetAttributes();
        if (setAttributes == 0) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            return TimeUnit.NANOSECONDS.toMicros(attributes(systemCall(), setAttributes + 1, arena)
                    .get(ValueLayout.JAVA_LONG, RUNTIME_OFFSET));
        } catch (Throwable unexpected) {
            throw new IllegalStateException("The scheduler request failed", unexpected);
        }
    }

    private static MemorySegment attributes(MethodHandle call, long number, Arena arena) throws Throwable {
        MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
        long refused = (long) call.invokeExact(number, THIS_THREAD, attributes, (long) ATTRIBUTES_BYTES, 0L);
        if (refused != 0) {
            attributes.set(ValueLayout.JAVA_INT, POLICY_OFFSET, UNKNOWN);
        }
        attributes.set(ValueLayout.JAVA_INT, SIZE_OFFSET, ATTRIBUTES_BYTES);
        return attributes;
    }

    /** 0 if it is unknown. */
    private static long numberOfSetAttributes() {
        if (!System.getProperty("os.name", "").startsWith("Linux")) {
            return 0;
        }
        return switch (System.getProperty("os.arch", "")) {
            case "amd64", "x86_64" -> SET_ATTRIBUTES_X86_64;
            case "aarch64" -> SET_ATTRIBUTES_AARCH64;
            default -> 0;
        };
    }

    /** The C library's syscall, with a number and four arguments. */
    private static MethodHandle systemCall() {
        Linker linker = Linker.nativeLinker();
        MemorySegment symbol = linker.defaultLookup().find("syscall")
                .orElseThrow(() -> new IllegalStateException("The C library has no syscall()"));
        return linker.downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
    }
}
