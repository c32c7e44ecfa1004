package io.varve.server.system;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the service manager that started the process when it is ready and when it ends: the setting {@code
 * supervised}. Immutable.
 *
 * <p>systemd receives datagrams at the path, or the abstract name, in {@code NOTIFY_SOCKET}. For upstart the process
 * stops itself, and upstart continues it. The JDK has no datagrams for Unix domain sockets, so this class calls the C
 * library.
 */
public final class Supervisor {
    private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);

    private static final String NOTIFY_SOCKET = "NOTIFY_SOCKET";
    private static final String UPSTART_JOB = "UPSTART_JOB";
    private static final short AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SIGSTOP = 19;
    /** The layout of a {@code sockaddr_un}. */
    private static final int PATH_OFFSET = Short.BYTES;
    private static final int PATH_BYTES = 108;

    private static final FunctionDescriptor SOCKET = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    private static final FunctionDescriptor SEND_TO = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    private static final FunctionDescriptor INT_OF_INT = FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT);

    private final Kind kind;
    private final @Nullable String socket;
    private final @Nullable String complaint;

    private Supervisor(Kind kind, @Nullable String socket, @Nullable String complaint) {
        this.kind = kind;
        this.socket = socket;
        this.complaint = complaint;
    }

    private enum Kind {
        NONE, UPSTART, SYSTEMD
    }

    /**
     * The service manager of a process with this environment.
     *
     * @param setting no, upstart, systemd or auto
     */
    public static Supervisor of(String setting, Map<String, String> environment) {
        String socket = environment.get(NOTIFY_SOCKET);
        boolean upstart = environment.containsKey(UPSTART_JOB);
        return switch (setting) {
            case "systemd" -> systemd(socket);
            case "upstart" -> upstart
                    ? new Supervisor(Kind.UPSTART, null, null)
                    : new Supervisor(Kind.NONE, null, "supervised upstart: the environment has no " + UPSTART_JOB);
            case "auto" -> upstart
                    ? new Supervisor(Kind.UPSTART, null, null)
                    : socket == null ? new Supervisor(Kind.NONE, null, null) : systemd(socket);
            default -> new Supervisor(Kind.NONE, null, null);
        };
    }

    private static Supervisor systemd(@Nullable String socket) {
        if (socket == null) {
            return new Supervisor(Kind.NONE, null, "supervised systemd: the environment has no " + NOTIFY_SOCKET);
        }
        return socket.startsWith("/") || socket.startsWith("@")
                ? new Supervisor(Kind.SYSTEMD, socket, null)
                : new Supervisor(Kind.NONE, null,
                        NOTIFY_SOCKET + " " + socket + ": expected a path, or an abstract name that begins with @");
    }

    /** Whether there is a service manager that can be notified. */
    public boolean isPresent() {
        return kind != Kind.NONE;
    }

    /** Notifies it that clients can connect. */
    public void ready() {
        switch (kind) {
            case SYSTEMD -> notifyManager("READY=1\nSTATUS=Ready to accept connections\nMAINPID="
                    + ProcessHandle.current().pid() + "\n");
            case UPSTART -> stop();
            case NONE -> {
                if (complaint != null) {
                    LOG.warn("{}: the server cannot notify a service manager that it is ready", complaint);
                }
            }
        }
    }

    /** Notifies it that the process ends. */
    public void stopping() {
        if (kind == Kind.SYSTEMD) {
            notifyManager("STOPPING=1\nSTATUS=Finishing\n");
        }
    }

    private static void stop() {
        try {
            int refused = (int) handle("raise", INT_OF_INT).invokeExact(SIGSTOP);
            LOG.debug("Stopped and resumed by upstart ({})", refused);
        } catch (Throwable unexpected) {
            LOG.warn("Cannot notify upstart that the server is ready", unexpected);
        }
    }

    private void notifyManager(String message) {
        if (socket == null) {
            return;
        }
        try {
            send(socket, message);
        } catch (Throwable unexpected) {
            LOG.warn("Cannot notify systemd at {} {}", NOTIFY_SOCKET, socket, unexpected);
        }
    }

    private static void send(String name, String message) throws Throwable {
        byte[] path = name.getBytes(StandardCharsets.UTF_8);
        boolean isAbstract = name.startsWith("@");
        int length = path.length + (isAbstract ? 0 : 1);
        if (length > PATH_BYTES) {
            throw new IOException("The socket name has more than " + PATH_BYTES + " bytes");
        }
        int descriptor = (int) handle("socket", SOCKET).invokeExact((int) AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            throw new IOException("The system cannot create the socket");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(PATH_OFFSET + PATH_BYTES, Short.BYTES);
            address.set(ValueLayout.JAVA_SHORT, 0, AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, PATH_OFFSET, path.length);
            if (isAbstract) {
                address.set(ValueLayout.JAVA_BYTE, PATH_OFFSET, (byte) 0);
            }
            byte[] text = message.getBytes(StandardCharsets.UTF_8);
            long sent = (long) handle("sendto", SEND_TO).invokeExact(descriptor,
                    arena.allocateFrom(ValueLayout.JAVA_BYTE, text), (long) text.length, MSG_NOSIGNAL, address,
                    PATH_OFFSET + length);
            if (sent != text.length) {
                throw new IOException("The socket accepts no message");
            }
        } finally {
            int refused = (int) handle("close", INT_OF_INT).invokeExact(descriptor);
            assert refused == 0;
        }
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name)
                .orElseThrow(() -> new IllegalStateException("The C library has no " + name)), descriptor);
    }

    /** The kind, as INFO shows it. */
    @Override
    public String toString() {
        return switch (kind) {
            case NONE -> "no";
            case UPSTART -> "upstart";
            case SYSTEMD -> "systemd";
        };
    }
}
