package io.varve.experiments.run.flash;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    /** Number of drops after which the folder is listed again: its files come and go. */
    private static final int DROPS_PER_LISTING = 256;

    private final Path directory;
    private final MethodHandle open;
    private final MethodHandle advise;
    private final MethodHandle close;
    private final Map<Path, Integer> descriptors = new HashMap<>();
    private int drops;

    private CachedPages(Path directory, MethodHandle open, MethodHandle advise, MethodHandle close) {
        this.directory = directory;
        this.open = open;
        this.advise = advise;
        this.close = close;
    }

    /** @throws IOException if this system has no such call */
    static CachedPages of(Path directory) throws IOException {
        Linker linker = Linker.nativeLinker();
        Optional<MemorySegment> open = linker.defaultLookup().find("open");
        Optional<MemorySegment> advise = linker.defaultLookup().find("posix_fadvise");
        Optional<MemorySegment> close = linker.defaultLookup().find("close");
        if (open.isEmpty() || advise.isEmpty() || close.isEmpty()) {
            throw new IOException("this system has no posix_fadvise, so page-cache must be yes");
        }
        return new CachedPages(directory,
                linker.downcallHandle(open.get(), FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
                        ValueLayout.JAVA_INT), Linker.Option.firstVariadicArg(2)),
                linker.downcallHandle(advise.get(), FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT)),
                linker.downcallHandle(close.get(),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)));
    }

    /** Drops all pages that are on the device. */
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
            throw new java.io.UncheckedIOException(unreadable);
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
                int descriptor = opened(file);
                // A negative one: the file was deleted after it was listed.
                if (descriptor >= 0) {
                    descriptors.put(file, descriptor);
                }
            }
        }
    }

    private int opened(Path file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(file.toString());
            return call(() -> (int) open.invokeExact(name, READ_ONLY));
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
