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
 * How long the system lets a thread run before it looks who else waits: the thread's slice. Immutable.
 *
 * <p>A thread with a shorter slice than the one that runs gets the core as soon as it wakes, as long as it has had no more
 * than its share of it; what it gets over time does not change. Linux keeps to it from 6.12 on (its documents:
 * sched-eevdf); an older one takes it and does nothing, and elsewhere nothing is asked for.
 */
public final class TimeSlice {
    /** The numbers of sched_setattr and of sched_getattr, which comes next, on the architectures we run on. */
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

    /** @param micros 100 to 100,000, which the system keeps to; 0 for what it gives everybody */
    public TimeSlice(long micros) {
        this.micros = micros;
    }

    /**
     * Asks for it, for the thread that calls.
     *
     * @return whether the system took it; false where it cannot be asked (why not is logged), or where the thread is scheduled in another way
     *         already (in real time, for instance)
     */
    public boolean apply() {
        long setAttributes = numberOfSetAttributes();
        if (micros == 0 || setAttributes == 0) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle call = systemCall();
            // What there is first: the call that sets sets the niceness too.
            MemorySegment attributes = attributes(call, setAttributes + 1, arena);
            if (attributes.get(ValueLayout.JAVA_INT, POLICY_OFFSET) != SCHED_OTHER) {
                return false;
            }
            attributes.set(ValueLayout.JAVA_LONG, RUNTIME_OFFSET, TimeUnit.MICROSECONDS.toNanos(micros));
            return (long) call.invokeExact(setAttributes, THIS_THREAD, attributes, 0L, 0L) == 0;
        } catch (Throwable unexpected) {
            LOG.warn("The system's scheduler could not be asked for a time slice of {} µs", micros, unexpected);
            return false;
        }
    }

    /** What the system says that the calling thread's slice is, in microseconds; 0 where it does not say. */
    static long currentMicros() {
        long setAttributes = numberOfSetAttributes();
        if (setAttributes == 0) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            return TimeUnit.NANOSECONDS.toMicros(attributes(systemCall(), setAttributes + 1, arena)
                    .get(ValueLayout.JAVA_LONG, RUNTIME_OFFSET));
        } catch (Throwable unexpected) {
            throw new IllegalStateException("The system's scheduler could not be asked", unexpected);
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

    /** 0 where we know none. */
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
                .orElseThrow(() -> new IllegalStateException("The C library has no syscall"));
        return linker.downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
    }
}
