import java.io.IOException;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * A Neo4j server for tests: Bolt on the loopback interface only, without authentication unless asked for.
 *
 * <p>{@code java -cp 'lib/*' Server.java FOLDER PORT [auth]} prints one line when it answers, and stops at
 * SIGTERM or when its standard input ends, so that it outlives nobody who started it.
 */
final class Server {
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        int port = Integer.parseInt(arguments[1]);
        DatabaseManagementService service = new DatabaseManagementServiceBuilder(folder)
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", port))
                .setConfig(GraphDatabaseSettings.auth_enabled, arguments.length > 2)
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // Whoever started us is still there.
        }
        System.exit(0);
    }
}
