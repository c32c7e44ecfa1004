package io.varve.experiments.run.flash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Drops the pages of a folder's files from the system's page cache, so that the next read of them is a read of the
 * device. Guarded by {@code this}.
 *
 * <p>It uses {@code posix_fadvise}, which needs no privileges. A page that has changed stays until the system has
 * written it, some seconds later.
 */
final class CachedPages implements AutoCloseable {
    /** {@code POSIX_FADV_DONTNEED}, and {@code O_RDONLY | O_CLOEXEC}, on Linux for x86-64 and AArch64. */
    private static final int DONT_NEED = 4;
    private static final int READ_ONLY = 0x80000;
    private static final VarHandle ERRNO = Linker.Option.captureStateLayout()
            .varHandle(MemoryLayout.PathElement.groupElement("errno"));
    /** Number of drops after which the folder is listed again: its files come and go. */
    private static final int DROPS_PER_LISTING = 256;

    private final Path directory;
    private final ToIntFunction<Path> open;
    private final MethodHandle advise;
    private final MethodHandle close;
    private final Map<Path, Integer> descriptors = new HashMap<>();
    private int drops;

    private CachedPages(Path directory, ToIntFunction<Path> open, MethodHandle advise, MethodHandle close) {
        this.directory = directory;
        this.open = open;
        this.advise = advise;
        this.close = close;
    }

    /** @throws IOException if this system has no such call */
    static CachedPages of(Path directory) throws IOException {
        return of(directory, opener());
    }

    /**
     * @param open opens a file: its descriptor, or the negative error number
     * @throws IOException if this system has no such call
     */
    static CachedPages of(Path directory, ToIntFunction<Path> open) throws IOException {
        return new CachedPages(directory, open,
                function("posix_fadvise", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT)),
                function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)));
    }

    /** The system's own open, for reading. */
    static ToIntFunction<Path> opener() throws IOException {
        MethodHandle open = function("open",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
                Linker.Option.firstVariadicArg(2), Linker.Option.captureCallState("errno"));
        return file -> open(open, file);
    }

    private static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options)
            throws IOException {
        Linker linker = Linker.nativeLinker();
        MemorySegment address = linker.defaultLookup().find(name).orElseThrow(
                () -> new IOException("this system has no " + name + ", so page-cache must be yes"));
        return linker.downcallHandle(address, type, options);
    }

    /**
     * Drops all pages that are on the device.
     *
     * @throws UncheckedIOException if a file cannot be opened: its pages would stay
     */
    synchronized void drop() {
        if (drops++ % DROPS_PER_LISTING == 0) {
            list();
        }
        for (int descriptor : descriptors.values()) {
            call(() -> (int) advise.invokeExact(descriptor, 0L, 0L, DONT_NEED));
        }
    }

    /** Opens new files, and closes those that were deleted. */
    private void list() {
        List<Path> files;
        try (Stream<Path> inside = Files.list(directory)) {
            files = inside.filter(Files::isRegularFile).toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        descriptors.entrySet().removeIf(entry -> {
            boolean gone = !files.contains(entry.getKey());
            if (gone) {
                close(entry.getValue());
            }
            return gone;
        });
        for (Path file : files) {
            if (!descriptors.containsKey(file)) {
                int descriptor = open.applyAsInt(file);
                if (descriptor >= 0) {
                    descriptors.put(file, descriptor);
                } else if (!Files.notExists(file)) {
                    throw new UncheckedIOException(new IOException("cannot open " + file
                            + " to drop its pages from the page cache: error " + -descriptor));
                }
            }
        }
    }

    private static int open(MethodHandle open, Path file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment name = arena.allocateFrom(file.toString());
            int descriptor = call(() -> (int) open.invokeExact(state, name, READ_ONLY));
            return descriptor >= 0 ? descriptor : -(int) ERRNO.get(state, 0L);
        }
    }

    private void close(int descriptor) {
        call(() -> (int) close.invokeExact(descriptor));
    }

    /** A call of the system. */
    @FunctionalInterface
    private interface NativeCall {
        int make() throws Throwable;
    }

    private static int call(NativeCall call) {
        try {
            return call.make();
        } catch (Throwable impossible) {
            throw new IllegalStateException("A call of the system failed", impossible);
        }
    }

    @Override
    public synchronized void close() {
        descriptors.values().forEach(this::close);
        descriptors.clear();
    }
}
