package io.varve.cluster.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

import io.varve.cluster.protocol.ControllerAddress;

/** Addresses for the controllers of a test. Stateless. */
public final class FreePorts {
    private FreePorts() {}

    /** Controllers c1, c2 and so on, at ports that were free just now. */
    public static List<ControllerAddress> controllers(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        List<ControllerAddress> addresses = new ArrayList<>();
        try {
            for (int i = 1; i <= count; i++) {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                sockets.add(socket);
                addresses.add(new ControllerAddress("c" + i, "127.0.0.1", socket.getLocalPort()));
            }
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
        return addresses;
    }
}
