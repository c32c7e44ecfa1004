package io.varve.memory.offheap;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * mmap, munmap and madvise of the C library, if the system has them (Linux). Immutable.
 *
 * <p>On other systems {@link #AVAILABLE} is false and {@link Regions} falls back to arenas. These zero-fill their
 * allocations and return nothing to the system before they close.
 */
final class NativeCalls {
    private static final int PROT_READ_WRITE = 0x1 | 0x2;
    private static final int MAP_PRIVATE = 0x02;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MADV_DONTNEED = 4;
    private static final long MAP_FAILED = -1;

    static final boolean AVAILABLE = System.getProperty("os.name", "").startsWith("Linux")
            && !Boolean.getBoolean("varve.memory.arenas");

    private static final MethodHandle MMAP = AVAILABLE
            ? handle("mmap", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG))
            : unavailable();
    private static final MethodHandle MUNMAP = AVAILABLE
            ? handle("munmap",
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG))
            : unavailable();
    private static final MethodHandle MADVISE = AVAILABLE
            ? handle("madvise", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT))
            : unavailable();

    private NativeCalls() {}

    /** Reserves {@code bytes} of zeroed address space without making any of it resident; 0 if the system refuses. */
    static long map(long bytes) {
        try {
            long address = (long) MMAP.invokeExact(0L, bytes, PROT_READ_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
            return address == MAP_FAILED ? 0 : address;
        } catch (Throwable unexpected) {
            throw new IllegalStateException("Calling mmap failed", unexpected);
        }
    }

    static void unmap(long address, long bytes) {
        int result;
        try {
            result = (int) MUNMAP.invokeExact(address, bytes);
        } catch (Throwable unexpected) {
            throw new IllegalStateException("Calling munmap failed", unexpected);
        }
        if (result != 0) {
            throw new IllegalStateException("munmap of " + bytes + " bytes at 0x" + Long.toHexString(address)
                    + " was refused");
        }
    }

    /** Returns the pages to the system; the range stays mapped and reads as zeros. False if the system refuses. */
    static boolean discard(long address, long bytes) {
        int result;
        try {
            result = (int) MADVISE.invokeExact(address, bytes, MADV_DONTNEED);
        } catch (Throwable unexpected) {
            throw new IllegalStateException("Calling madvise failed", unexpected);
        }
        return result == 0;
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        SymbolLookup library = linker.defaultLookup();
        Optional<MemorySegment> symbol = library.find(name);
        return linker.downcallHandle(
                symbol.orElseThrow(() -> new IllegalStateException("The C library has no " + name)), descriptor);
    }

    private static MethodHandle unavailable() {
        return java.lang.invoke.MethodHandles.empty(java.lang.invoke.MethodType.methodType(void.class));
    }

    /** Without mmap: zeroed memory of an arena that stays open until exit; 0 if the JVM refuses. */
    static long allocateInArena(Arena arena, long bytes, long alignment) {
        try {
            return arena.allocate(bytes, alignment).address();
        } catch (OutOfMemoryError refused) {
            // The limit of direct memory or of the system; the heap is unaffected, and the caller handles 0.
            return 0;
        }
    }
}
