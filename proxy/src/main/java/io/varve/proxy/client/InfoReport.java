package io.varve.proxy.client;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.SlotTable;
import io.varve.server.command.Version;

/** INFO of the proxy: itself, its clients, its requests and the health of the members. Stateless. */
final class InfoReport {
    private static final Set<String> ALL = Set.of("default", "all", "everything");

    private InfoReport() {}

    /** The sections that a request names; all of them if it names none. */
    static String of(ProxyState proxy, Request request) {
        Set<String> wanted = new LinkedHashSet<>();
        for (int i = 1; i < request.argumentCount(); i++) {
            wanted.add(request.text(i).toLowerCase(Locale.ROOT));
        }
        boolean isAll = wanted.isEmpty() || wanted.stream().anyMatch(ALL::contains);
        List<String> sections = new ArrayList<>();
        if (isAll || wanted.contains("server")) {
            sections.add(server(proxy));
        }
        if (isAll || wanted.contains("clients")) {
            sections.add(clients(proxy));
        }
        if (isAll || wanted.contains("stats")) {
            sections.add(statistics(proxy));
        }
        if (isAll || wanted.contains("members")) {
            sections.add(members(proxy));
        }
        return String.join("\r\n", sections);
    }

    private static String server(ProxyState proxy) {
        return "# Server\r\nredis_version:" + Version.REDIS + "\r\nserver_name:varve-proxy\r\nvarve_version:"
                + Version.VARVE + "\r\nredis_mode:standalone\r\nprocess_id:" + ProcessHandle.current().pid()
                + "\r\ntcp_port:" + proxy.port() + "\r\nuptime_in_seconds:" + proxy.uptimeSeconds() + "\r\n";
    }

    private static String clients(ProxyState proxy) {
        return "# Clients\r\nconnected_clients:" + proxy.clients().size() + "\r\nmaxclients:"
                + proxy.settings().maxClients() + "\r\n";
    }

    private static String statistics(ProxyState proxy) {
        return "# Stats\r\ntotal_connections_received:" + proxy.acceptedClients.sum() + "\r\nrejected_connections:"
                + proxy.refusedClients.sum() + "\r\nslow_clients_disconnected:" + proxy.slowClients.sum()
                + "\r\ntotal_commands_processed:" + proxy.requests.sum() + "\r\nmerged_reads:"
                + proxy.mergedReads.sum() + "\r\nsplit_requests:" + proxy.splitRequests.sum() + "\r\n"
                + proxy.routeStatistics().fields();
    }

    private static String members(ProxyState proxy) {
        SlotTable table = proxy.table();
        SlotMap map = table.map();
        StringBuilder text = new StringBuilder("# Members\r\nmember_kind:")
                .append(table.isClustered() ? "cluster" : "plain").append("\r\nslot_map_epoch:").append(map.epoch())
                .append("\r\nassigned_slots:").append(map.assignedSlots()).append("\r\nmembers:")
                .append(map.members().size()).append("\r\n");
        int number = 0;
        for (Member member : map.members()) {
            int slots = map.slots(member).stream().mapToInt(SlotRange::size).sum();
            text.append("member").append(number++).append(":address=").append(member.address()).append(",role=")
                    .append(member.isPrimary() ? "primary" : "replica").append(",slots=").append(slots).append(',')
                    .append(proxy.healths().of(new Endpoint(member.host(), member.port())).fields()).append("\r\n");
        }
        return text.toString();
    }
}
