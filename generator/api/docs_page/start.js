'use strict';

SwaggerUIBundle({
    url: '/api/v2/openapi.json',
    dom_id: '#api',
    deepLinking: true,
    // No validator badge: it would send the URL of the document to another host.
    validatorUrl: null,
});
