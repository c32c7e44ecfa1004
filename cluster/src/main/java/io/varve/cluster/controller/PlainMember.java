package io.varve.cluster.controller;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A redis-server or Valkey that sends no heartbeats: PING on its behalf. Stateless. */
final class PlainMember {
    private static final Logger LOG = LoggerFactory.getLogger(PlainMember.class);
    private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);

    private PlainMember() {}

    /** @return whether it has replied within the time; an error such as NOAUTH or LOADING is a reply too */
    static boolean ping(String host, int port, long timeoutMillis) {
        int timeout = Math.toIntExact(timeoutMillis);
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(timeout);
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(host, port), timeout);
            socket.getOutputStream().write(PING);
            InputStream in = socket.getInputStream();
            int first = in.read();
            return first == '+' || first == '-';
        } catch (IOException silent) {
            LOG.debug("{}:{} does not reply to PING: {}", host, port, silent.toString());
            return false;
        }
    }
}
