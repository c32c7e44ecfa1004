package io.varve.server.system;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** The socket on which systemd receives its services' notifications. Confined to one thread. Linux only. */
public final class NotifySocket implements AutoCloseable {
    private static final int LONGEST = 4096;
    private static final int DONT_WAIT = 0x40;
    private static final FunctionDescriptor THREE_INTS = FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);

    private final int descriptor;

    /** @param name a path, or an abstract name that begins with @ */
    public NotifySocket(String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            descriptor = (int) handle("socket", THREE_INTS).invokeExact(1, 2, 0);
            byte[] path = name.getBytes(StandardCharsets.UTF_8);
            MemorySegment address = arena.allocate(110, 2);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) 1);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, 2, path.length);
            boolean isAbstract = name.startsWith("@");
            if (isAbstract) {
                address.set(ValueLayout.JAVA_BYTE, 2, (byte) 0);
            }
            int refused = (int) handle("bind", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS, ValueLayout.JAVA_INT)).invokeExact(descriptor, address,
                            2 + path.length + (isAbstract ? 0 : 1));
            if (refused != 0) {
                throw new IOException(name + " cannot be bound");
            }
        } catch (IOException failed) {
            throw failed;
        } catch (Throwable unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    /** The next message that has come; empty if there is none. */
    public String next() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(LONGEST);
            long length = (long) handle("recv", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT)).invokeExact(descriptor, buffer,
                            (long) LONGEST, DONT_WAIT);
            byte[] bytes = new byte[(int) Math.max(0, length)];
            MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, 0, bytes, 0, bytes.length);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (Throwable unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor);
    }

    @Override
    public void close() {
        try {
            int refused = (int) handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                    .invokeExact(descriptor);
            if (refused != 0) {
                throw new IllegalStateException("close");
            }
        } catch (Throwable unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
