// Receiver.java, run with: COUNTERSIGN_SECRETS="whsec_…" java Receiver.java 3000
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final long TOLERANCE_S = 300;
    static final int BODY_BYTES_MAX = 1 << 20;
    // Java has no JSON of its own. An application reads {payload, result, forward_webhook_id} with its own library;
    // ids have only letters, digits and underscores, and the member is the last one.
    static final Pattern FORWARD = Pattern.compile("\"forward_webhook_id\"\\s*:\\s*\"(\\w+)\"\\s*}\\s*$");
    // After a rotation two secrets sign for a while: separate them by a space.
    static final List<byte[]> SECRETS = secretsOf(System.getenv().getOrDefault("COUNTERSIGN_SECRETS", ""));
    // The action that undoes a step: write the name of your own compensation here.
    static final String COMPENSATION = "order.cancel";

    // In an application these are rows of its database, written in the transaction that does the work.
    static final Set<String> done = new HashSet<>();
    static final Set<String> undone = new HashSet<>();

    static List<byte[]> secretsOf(String text) {
        return Stream.of(text.split("\\s+"))
            .map(it -> Base64.getDecoder().decode(it.replace("whsec_", "")))
            .filter(key -> key.length > 0)
            .toList();
    }

    static String header(Headers headers, String name) {
        String value = headers.getFirst(name);
        return value == null ? "" : value;
    }

    static boolean isGenuine(Headers headers, byte[] body) throws GeneralSecurityException {
        String id = header(headers, "webhook-id");
        String timestamp = header(headers, "webhook-timestamp");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_S) return false;
        for (byte[] secret : SECRETS) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
            String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
            for (String given : header(headers, "webhook-signature").split(" ")) {
                byte[] one = given.getBytes(StandardCharsets.UTF_8);
                if (MessageDigest.isEqual(one, expected.getBytes(StandardCharsets.UTF_8))) return true;
            }
        }
        return false;
    }

    static synchronized String process(Headers headers, String body) {
        String id = header(headers, "webhook-id");
        if (header(headers, "countersign-sample").equals("true")) return "sample";
        if (done.contains(id)) return "repeated";
        if (header(headers, "countersign-action").equals(COMPENSATION)) {
            Matcher forward = FORWARD.matcher(body);
            if (!forward.find()) throw new IllegalArgumentException("not an undo");
            done.add(id);
            // What is undone before it has arrived must not be done later.
            undone.add(forward.group(1));
            return "undone";
        }
        done.add(id);
        return undone.contains(id) ? "skipped" : "done";
    }

    static void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
        Headers headers = exchange.getRequestHeaders();
        int status = 200;
        String outcome;
        try {
            if (body.length > BODY_BYTES_MAX) {
                status = 413;
                outcome = "too large";
            } else if (!isGenuine(headers, body)) {
                status = 401;
                outcome = "refused";
            } else {
                String text = new String(body, StandardCharsets.UTF_8);
                try {
                    outcome = process(headers, text);
                } catch (IllegalArgumentException error) {
                    status = 400;
                    outcome = "not an undo";
                }
            }
        } catch (GeneralSecurityException | IllegalArgumentException error) {
            status = 500;
            outcome = "failed";
        }
        byte[] answer = ("{\"outcome\": \"" + outcome + "\"}").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", "application/json");
        exchange.sendResponseHeaders(status, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        // Anybody can sign with an empty key.
        if (SECRETS.isEmpty()) throw new IllegalStateException("COUNTERSIGN_SECRETS holds no secret.");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.createContext("/", Receiver::handle);
        server.start();
    }
}
